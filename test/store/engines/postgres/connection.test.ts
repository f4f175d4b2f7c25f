import { describe, expect, onTestFinished, test } from "vitest";
import { type Connection, classifyFault, connect } from "../../../../src/store/engines/postgres/connection.ts";
import { createDatabase } from "../../../support/postgres/create-database.ts";

async function open() {
  const { urlAt, port, query } = await createDatabase();
  const connection = await connect({ url: urlAt(port) });
  onTestFinished(() => connection.close());
  return { connection, url: urlAt(port), query };
}

const faultOf = async (work: () => Promise<unknown>): Promise<string> => {
  const error = await work().then(
    () => null,
    (reason: unknown) => reason,
  );
  return error === null ? "none" : classifyFault(error);
};

const raise = (code: string): string => `DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${code}'; END $$`;

const raiseIn = (connection: Connection, code: string) => connection.query(raise(code));

describe("a connection", () => {
  test("a connection returns bigint columns as numbers", async () => {
    const { connection } = await open();
    const { rows } = await connection.query("SELECT 1764000000123::bigint AS time, NULL::bigint AS none, true AS flag, 'x'::text AS text");
    expect(rows).toEqual([{ time: 1_764_000_000_123, none: null, flag: true, text: "x" }]);
  });

  test("a connection acknowledges commits only when they are on the disk, even if the database has another default", async () => {
    const { url, query } = await open();
    const [{ name } = { name: "" }] = await query<{ name: string }>("SELECT current_database() AS name");
    const show = async () => {
      const connection = await connect({ url });
      onTestFinished(() => connection.close());
      return (await connection.query("SHOW synchronous_commit")).rows[0]?.["synchronous_commit"];
    };
    await query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    expect(await show()).toBe("on");
    await query(`ALTER DATABASE ${name} SET synchronous_commit = remote_apply`);
    expect(await show()).toBe("remote_apply");
  });

  test("a connection throws the first error of statements that are sent together", async () => {
    const { connection } = await open();
    const sent = connection.together(() => [connection.query("BEGIN"), connection.query("SELECT 1 / 0"), connection.query("SELECT 1")]);
    await expect(sent).rejects.toThrow("division by zero");
    expect((await connection.query("ROLLBACK")).command).toBe("ROLLBACK");
    expect((await connection.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  test("a connection sends statements without waiting for answers", async () => {
    const { connection } = await open();
    const ended: string[] = [];
    await connection.together(() => [
      connection.query("SELECT pg_sleep(0.05)").then(() => ended.push("first")),
      connection.query("SELECT now()").then(() => ended.push("second")),
    ]);
    expect(ended).toEqual(["first", "second"]);
  });
});

describe("a fault", () => {
  test.each(["08006", "53100", "53300", "57P03", "58030", "25006"])("%s means that the database is unavailable", async (code) => {
    const { connection } = await open();
    expect(await faultOf(() => connection.query(raise(code)))).toBe("unavailable");
  });

  test.each(["40001", "40P01", "55P03", "57014"])("%s means contention", async (code) => {
    const { connection } = await open();
    expect(await faultOf(() => connection.query(raise(code)))).toBe("contention");
  });

  test.each(["22021", "22P02", "23505", "42601", "P0001"])("%s means that the operation is at fault", async (code) => {
    const { connection } = await open();
    expect(await faultOf(() => connection.query(raise(code)))).toBe("operation");
  });

  test("a fault of a server that does not listen, or lacks the database, means that the database is unavailable", async () => {
    expect(await faultOf(() => connect({ url: "postgres://bridge@127.0.0.1:1/bridge" }))).toBe("unavailable");
    const { url } = await open();
    expect(await faultOf(() => connect({ url: `${url}_missing` }))).toBe("unavailable");
  });

  test("a fault of a terminated session means that the database is unavailable, for the running statement and for later ones", async () => {
    const { connection, query } = await open();
    const { rows } = await connection.query("SELECT pg_backend_pid() AS pid");
    const running = faultOf(() => connection.query("SELECT pg_sleep(3600)"));
    await query("SELECT pg_terminate_backend($1)", [rows[0]?.["pid"]]);
    expect(await running).toBe("unavailable");
    expect(await faultOf(() => connection.query("SELECT 1"))).toBe("unavailable");
    expect(connection.isLost).toBe(true);
  });

  test("a fault of a prepared statement that another client has prepared in the session means that the database is unavailable", async () => {
    const { connection } = await open();
    await connection.query("PREPARE count AS SELECT 1");
    const statement = { name: "count", text: "SELECT $1::int" };
    await expect(connection.query(statement, [1])).rejects.toMatchObject({ code: "42P05", hint: expect.stringContaining("pool_mode") });
    expect(connection.isLost).toBe(true);
    expect(await faultOf(async () => raiseIn((await open()).connection, "26000"))).toBe("unavailable");
  });

  test("a fault of Bridge's own code is not taken for a fault of the database", () => {
    expect(classifyFault(new TypeError("x is not a function"))).toBe("operation");
  });
});
