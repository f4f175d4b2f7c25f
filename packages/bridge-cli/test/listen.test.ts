import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreePort } from "../../../test/support/find-free-port.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { askUntil } from "../../../test/support/until.ts";
import { runCli, startCli, startOnTerminal } from "./start-cli.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 8).toString("base64")}`;

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_CALLBACK_SECRETS: SECRET, BRIDGE_CALLBACK_RETRIES: "1", BRIDGE_CALLBACK_BACKOFF_MS: "1" });
});
afterAll(() => bridge.close());

const LISTENING = /Listening on (http:\S+),/;

/** Starts `brg listen` in a pipe. */
async function listen(forwardTo: string, secret = SECRET) {
  const cli = await startCli(["listen", "--forward-to", forwardTo], { env: { BRIDGE_CALLBACK_SECRETS: secret } });
  await expect.poll(cli.stderr).toMatch(LISTENING);
  const [, url = ""] = LISTENING.exec(cli.stderr()) ?? [];
  const printed = () =>
    cli
      .stdout()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return { ...cli, url, printed };
}

const historyOf = async (taskId: string, state: string) =>
  (
    await askUntil(
      () => bridge.call("GET", `/api/v2/callbacks/${taskId}`),
      ({ body }) => body?.state === state,
    )
  ).body.history;

test("brg listen forwards a callback with its headers and its exact bytes, and Bridge gets the answer", async () => {
  const target = await startReceiver((response) => response.writeHead(202, { "content-type": "text/plain" }).end("Stored."));
  const direct = await startReceiver();
  const cli = await listen(`${target.origin}/hooks?from=bridge`);
  await bridge.dispatch({ taskId: "forwarded-1", callbackUrl: `${cli.url}/ignored` });
  expect(await historyOf("forwarded-1", "delivered")).toMatchObject([{ status: 202, response: "Stored." }]);
  const [post] = target.posts;
  expect(post?.path).toBe("/hooks?from=bridge");
  expect(JSON.parse(String(post?.body))).toMatchObject({ taskId: "forwarded-1", status: "ok", output: "Hello." });
  expect(post?.headers).toMatchObject({ "idempotency-key": "forwarded-1", host: new URL(target.origin).host });

  await bridge.dispatch({ taskId: "direct-1", callbackUrl: direct.origin });
  await historyOf("direct-1", "delivered");
  const names = (headers: object = {}) => Object.keys(headers).toSorted();
  expect(names(post?.headers)).toEqual(names(direct.posts[0]?.headers));

  await expect.poll(cli.printed).toHaveLength(1);
  expect(cli.printed()).toMatchObject([
    { taskId: "forwarded-1", verified: true, status: 202, body: "Stored.", error: null, webhookId: post?.headers["webhook-id"] },
  ]);
  cli.signal("SIGINT");
  expect(await cli.exited).toBe(130);
  await target.close();
  await direct.close();
});

test("brg listen answers a client that closes its sending side after its request", async () => {
  const ended = Promise.withResolvers<void>();
  const target = await startReceiver((response) => void ended.promise.then(() => response.writeHead(200).end("Late.")));
  const cli = await listen(target.origin, "");
  const socket = connect({ port: Number(new URL(cli.url).port), host: "127.0.0.1", allowHalfOpen: true });
  socket.end("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
  await once(socket, "finish");
  // An answer to a later request means that the end of the first one has arrived.
  expect((await fetch(cli.url)).status).toBe(405);
  ended.resolve();
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Late\./s);
  socket.destroy();
  await target.close();
});

test("brg listen passes an error of the server on, so that Bridge retries", async () => {
  const target = await startReceiver((response, _request, number) => response.writeHead(number === 1 ? 503 : 204).end());
  const cli = await listen(target.origin);
  await bridge.dispatch({ taskId: "retried-1", callbackUrl: cli.url });
  expect(await historyOf("retried-1", "delivered")).toMatchObject([{ status: 503 }, { status: 204 }]);
  await expect.poll(() => cli.printed().map(({ status }) => status)).toEqual([503, 204]);
  await target.close();
});

test("brg listen answers with 502 while nothing listens at the server, and continues", async () => {
  const port = await findFreePort();
  const cli = await listen(`http://127.0.0.1:${port}`);
  await bridge.dispatch({ taskId: "refused-1", callbackUrl: cli.url });
  expect(await historyOf("refused-1", "dead")).toMatchObject([{ status: 502 }, { status: 502 }]);
  await expect.poll(cli.printed).toHaveLength(2);
  expect(cli.printed()[0]).toMatchObject({ status: 502, error: expect.stringContaining("ECONNREFUSED") });
});

test("brg listen does not forward a callback that the secret did not sign", async () => {
  const target = await startReceiver();
  const cli = await listen(target.origin, OTHER_SECRET);
  await bridge.dispatch({ taskId: "forged-1", callbackUrl: cli.url });
  expect(await historyOf("forged-1", "dead")).toMatchObject([{ status: 401 }, { status: 401 }]);
  expect(target.posts).toEqual([]);
  await expect.poll(cli.printed).toHaveLength(2);
  expect(cli.printed()[0]).toMatchObject({ verified: false, error: expect.stringContaining("no secret signed this body") });
  await target.close();
});

test("brg listen on a terminal asks for the secret without showing it, and prints one line for each callback", async () => {
  const target = await startReceiver((response) => response.writeHead(200).end("ok\u001b[31m"));
  const cli = await startOnTerminal(["listen", "--forward-to", target.origin]);
  await cli.waitFor(/Secret of Bridge/);
  cli.type(`${SECRET}\r`);
  await cli.waitFor(LISTENING);
  const [, url = ""] = LISTENING.exec(cli.shown()) ?? [];
  await bridge.dispatch({ taskId: "shown-1", callbackUrl: url });
  await cli.waitFor(/shown-1 {2}200 {2}[\d.]+ m?s.* ok␛\[31m\r\n/);
  expect(cli.shown()).not.toContain(SECRET);
  cli.type("\u0003");
  expect(await cli.exited).toBe(130);
  await target.close();
});

test.each<[string, string[], Record<string, string>, string]>([
  ["a missing address", [], {}, "--forward-to is missing."],
  ["an address that is no URL", ["--forward-to", "localhost:3000"], {}, "--forward-to must be an http or https URL"],
  ["a secret in the wrong form", ["--forward-to", "http://127.0.0.1:1"], { BRIDGE_CALLBACK_SECRETS: "guess" }, "whsec_ followed by base64"],
])("brg listen rejects %s", async (_, args, env, words) => {
  const { exitCode, stderr } = await runCli(["listen", ...args], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(words) });
  expect(stderr).not.toContain("guess");
});

test("brg listen rejects a port that is in use", async () => {
  const other = await startReceiver();
  expect(await runCli(["listen", "--forward-to", "http://127.0.0.1:1", "--port", String(other.port)])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/EADDRINUSE(.|\n)*--port/),
  });
  await other.close();
});
