import path from "node:path";
import { parseExactJson } from "bridge-client";
import { execa } from "execa";
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test, vi } from "vitest";
import { startReceiver } from "../support/start-receiver.ts";
import { createFakeConvex, type FakeSchema } from "./fake-convex.ts";

type HttpHandler = (context: object, request: Request) => Promise<Response>;

const example = path.join(import.meta.dirname, "../../examples/convex/convex");
const load = async (name: string): Promise<object> => (await import(path.join(example, `${name}.ts`))) as object;
const defaultOf = <T>(module: object): T => (module as { default: T }).default;
const [callbacks, completions, dispatch, http, schema] = await Promise.all(
  ["callbacks", "completions", "dispatch", "http", "schema"].map(load),
);

const [oldSecret, secret] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`) as [string, string];

let convex: ReturnType<typeof createFakeConvex>;
beforeEach(() => {
  convex = createFakeConvex({ callbacks, completions, dispatch } as Record<string, object>, defaultOf<FakeSchema>(schema as object));
  vi.stubEnv("BRIDGE_CALLBACK_SECRETS", `${oldSecret},${secret}`);
  return () => vi.unstubAllEnvs();
});

const task = { taskId: "t-1", agentId: "auditor", provider: "claude" };
/** Convex accepts no field that begins with `$`, and a double cannot hold the number. */
const OUTPUTS = '{"$count":653247040368672769}';
const success = {
  ...task,
  ...{
    status: "ok",
    output: "Done.",
    outputs: parseExactJson(OUTPUTS),
    durationMs: 1200,
    model: "small",
    costUsd: 0.25,
    costSource: "runtime",
    metadata: { step: "s-1" },
  },
  usage: { inputTokens: 50, outputTokens: 30, thinkingTokens: 10, cacheReadTokens: 20, cacheWriteTokens: 5, laterTokens: 1 },
  finishedAt: "2026-11-29T00:00:00.000Z",
  laterField: "Later versions of Bridge can add fields.",
};

/** Delivers a callback to the route of the example, as Bridge does. */
async function deliver(callback: object, key = secret): Promise<Response> {
  const body = JSON.stringify(callback);
  const at = new Date();
  const signature = new Webhook(key).sign("msg_1", at, body);
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": signature };
  const found = defaultOf<{ lookup(path: string, method: string): [HttpHandler] | null }>(http as object).lookup(
    "/bridge/callback",
    "POST",
  );
  const [handler] = found ?? [];
  if (handler === undefined) throw new Error("The example has no route for callbacks.");
  return handler(convex.context, new Request("https://convex.example/bridge/callback", { method: "POST", headers, body }));
}

// These tests are here because `convex` is installed with the generators: it is larger than everything that `npm test` needs.
test("the Convex example compiles under strict settings", async () => {
  const compiler = path.join(import.meta.dirname, "../../node_modules/.bin/tsc");
  const cwd = path.join(import.meta.dirname, "clients");
  const { all } = await execa(compiler, ["--project", "tsconfig.convex.json"], { cwd, stdin: "ignore", all: true, reject: false });
  expect(all).toBe("");
});

test("the Convex example stores the result and the usage of a task once, and fires one completion", async () => {
  const statuses = [(await deliver(success)).status, (await deliver(success)).status, (await deliver(success, oldSecret)).status];
  expect(statuses).toEqual([204, 204, 204]);
  expect(convex.tables).toEqual({
    callbackDedup: [{ taskId: "t-1", receivedAt: expect.any(Number) }],
    taskResults: [
      {
        ...task,
        ...{ status: "ok", output: "Done.", outputs: OUTPUTS, metadata: '{"step":"s-1"}', durationMs: 1200 },
        finishedAt: "2026-11-29T00:00:00.000Z",
      },
    ],
    tokenEvents: [
      {
        ...task,
        ...{
          model: "small",
          costUsd: 0.25,
          costSource: "runtime",
          inputTokens: 50,
          outputTokens: 30,
          thinkingTokens: 10,
          cacheReadTokens: 20,
          cacheWriteTokens: 5,
        },
      },
    ],
  });
  expect(convex.scheduled).toEqual([{ name: "completions:onCompletion", args: { taskId: "t-1" }, delayMs: 0 }]);
});

test("the Convex example stores a failed task, whose usage is unknown", async () => {
  const failure = { ...task, status: "error", error: "It failed.", errorCode: "model_error", durationMs: 5, metadata: null };
  expect((await deliver({ ...failure, finishedAt: "2026-11-29T00:00:00.000Z" })).status).toBe(204);
  expect(convex.tables["taskResults"]).toEqual([{ ...failure, metadata: "null", finishedAt: "2026-11-29T00:00:00.000Z" }]);
  expect(convex.tables["tokenEvents"]).toEqual([task]);
});

test("the Convex example rejects a forged signature, also without secrets, and stores nothing", async () => {
  expect((await deliver(success, `whsec_${Buffer.alloc(32, 3).toString("base64")}`)).status).toBe(401);
  vi.stubEnv("BRIDGE_CALLBACK_SECRETS", undefined);
  expect((await deliver(success)).status).toBe(401);
  expect(Object.values(convex.tables).flat()).toEqual([]);
});

test("the completion of the Convex example reads the stored result", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue();
  await deliver(success);
  for (const { name, args } of convex.scheduled) await convex.run(name, args);
  expect(log.mock.calls).toEqual([["t-1 ended: ok"]]);
  log.mockRestore();
});

test("the Convex example dispatches with provider, model and metadata, and reports a rejection", async () => {
  const bridge = await startReceiver((response, { method }, number) =>
    number === 1 ? response.writeHead(method === "POST" ? 202 : 405).end() : response.writeHead(422).end("Unknown provider."),
  );
  vi.stubEnv("BRIDGE_URL", bridge.origin);
  vi.stubEnv("BRIDGE_TOKEN", "secret");
  vi.stubEnv("CONVEX_SITE_URL", "https://convex.example");
  const args = { ...task, message: "Look.", model: "small", metadata: { step: "s-1" } };
  try {
    await convex.run("dispatch:dispatch", args);
    await expect(convex.run("dispatch:dispatch", { ...task, message: "Look." })).rejects.toThrow(
      "Bridge rejected t-1: 422 Unknown provider.",
    );
  } finally {
    await bridge.close();
  }
  const [first, second] = bridge.posts;
  expect(first).toMatchObject({
    path: "/api/v2/dispatch",
    headers: { authorization: "Bearer secret", "content-type": "application/json" },
  });
  expect(JSON.parse(String(first?.body))).toEqual({ ...args, callbackUrl: "https://convex.example/bridge/callback" });
  expect(JSON.parse(String(second?.body))).toEqual({ ...task, message: "Look.", callbackUrl: "https://convex.example/bridge/callback" });
});
