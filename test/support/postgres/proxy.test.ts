import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { outlasts } from "../outlasts.ts";
import { createDatabase } from "./create-database.ts";
import { startProxy } from "./proxy.ts";

async function start() {
  const database = await createDatabase();
  const proxy = await startProxy(database.port);
  await database.query("CREATE TABLE note (text text)");
  const notes = async () => (await database.query<{ text: string }>("SELECT text FROM note ORDER BY text")).map(({ text }) => text);
  return { database, proxy, notes, client: () => openClient(database.urlAt(proxy.port)) };
}

async function openClient(url: string): Promise<Client> {
  const client = new Client(url);
  client.on("error", () => {});
  onTestFinished(() => void client.end());
  await client.connect();
  return client;
}

async function commitNote(client: Client, text: string): Promise<string> {
  await client.query("BEGIN");
  await client.query("INSERT INTO note VALUES ($1)", [text]);
  return (await client.query("COMMIT")).command;
}

const answer = async (client: Client): Promise<number> => (await client.query("SELECT 1 AS one")).rows[0].one;

describe("proxy", () => {
  test("proxy passes statements and large rows", async () => {
    const { client } = await start();
    const { rows } = await (await client()).query("SELECT repeat('x', 3000000) AS text");
    expect(rows[0].text).toHaveLength(3_000_000);
  });

  test.each([undefined, "toServer", "toClient"] as const)(
    "proxy holds everything while it stalls (%s), and forwards it later",
    async (direction) => {
      const { database, proxy, client } = await start();
      const connected = await client();
      proxy.stall(direction);
      let isAnswered = false;
      const answered = answer(connected).finally(() => {
        isAnswered = true;
      });
      for (let number = 0; number < 5; number += 1) await database.query("SELECT 1");
      expect(isAnswered).toBe(false);
      proxy.pass();
      expect(await answered).toBe(1);
    },
  );

  test("the server runs a statement whose reply is stalled", async () => {
    const { proxy, client, notes } = await start();
    const connected = await client();
    proxy.stall("toClient");
    const written = connected.query("INSERT INTO note VALUES ('one-way')");
    await expect.poll(notes).toEqual(["one-way"]);
    proxy.pass();
    await written;
  });

  test("proxy delays every packet", async () => {
    const { proxy, client } = await start();
    const connected = await client();
    proxy.delay(40);
    expect(await outlasts(() => answer(connected), 60)).toBe(true);
  });

  test("proxy keeps packets in order when the delay ends", async () => {
    const { proxy, client } = await start();
    const connected = await client();
    proxy.delay(40);
    const first = connected.query("INSERT INTO note VALUES ('first')");
    proxy.delay(0);
    const second = connected.query("SELECT text FROM note");
    await first;
    expect((await second).rows).toEqual([{ text: "first" }]);
  });

  test("proxy cuts connections and rejects new ones until it passes", async () => {
    const { proxy, client } = await start();
    const connected = await client();
    proxy.cut();
    await expect(answer(connected)).rejects.toThrow();
    await expect(client()).rejects.toThrow();
    proxy.pass();
    expect(await answer(await client())).toBe(1);
  });

  test("proxy cuts a commit before its request reaches the server, so that nothing is stored", async () => {
    const { proxy, client, notes } = await start();
    const connected = await client();
    proxy.cutCommitsWhile(() => "request");
    await expect(commitNote(connected, "lost")).rejects.toThrow("Connection terminated unexpectedly");
    proxy.pass();
    await commitNote(await client(), "stored");
    expect(await notes()).toEqual(["stored"]);
    expect(proxy.cutCommits).toBe(1);
  });

  test("proxy cuts a commit before its reply reaches the client, so that everything is stored", async () => {
    const { proxy, client, notes } = await start();
    const connected = await client();
    const decisions = ["reply" as const, null];
    proxy.cutCommitsWhile(() => decisions.shift() ?? null);
    await expect(commitNote(connected, "first")).rejects.toThrow("Connection terminated unexpectedly");
    expect(await commitNote(await client(), "second")).toBe("COMMIT");
    expect(await notes()).toEqual(["first", "second"]);
    expect(proxy.cutCommits).toBe(1);
  });
});
