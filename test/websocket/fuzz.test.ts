import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyCharacter } from "../support/any-character.ts";
import { type Bridge, startBridge } from "../support/start-bridge.ts";
import { openSocket, type SocketClient } from "./socket-client.ts";

// Every frame is answered once with a documented status, and the socket stays open.
let bridge: Bridge;
let client: SocketClient;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_QUEUE_LIMIT: "1000000", BRIDGE_BODY_LIMIT: "4 MiB" });
  client = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
});
afterAll(() => bridge.close());

const expected = new Set([200, 400, 404, 409, 413, 422, 503]);
const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Sends frames and expects exactly one response to each. A known last frame marks the end. */
async function send(frames: readonly (string | Buffer)[]): Promise<number[]> {
  const before = client.answers.length;
  for (const frame of frames) client.socket.send(frame);
  const answers = (await client.received(before + frames.length)).slice(before);
  const { status } = await client.ask("no.such");
  expect(status).toBe(404);
  expect(client.answers.length).toBe(before + frames.length + 1);
  for (const answer of answers) {
    expect(Object.keys(answer)).toEqual(["requestId", "status", "payload"]);
    expect(answer.requestId).toEqual(expect.stringMatching(/./su));
    expect([...expected]).toContain(answer.status);
  }
  return answers.map(({ status }) => status);
}

test("deliberately hostile frames get the documented responses", async () => {
  const ops = ["agent.run", "agent.cancel", "agent.status", "agent.result", "agent.events", "tool.approve", "workspace.list"];
  const hostile = [
    "",
    " ",
    "\0",
    "null",
    "[]",
    "{}",
    '""',
    "0",
    "tru",
    '{"op":',
    "\ufeff{}",
    nested(100_000, "[", "]"),
    nested(100_000, '{"a":', "}"),
    `"${"x".repeat(3_000_000)}"`,
    JSON.stringify({ op: "x".repeat(1_000_000) }),
    JSON.stringify({ op: "__proto__", requestId: "\ud800" }),
    '{"op":"workspace.list","requestId":"a","requestId":7}',
    ...ops.flatMap((op) => [
      `{"op":"${op}","payload":${nested(20_000, '{"a":', "}")}}`,
      `{"op":"${op}","payload":${nested(20_000, "[", "]")}}`,
      `{"op":"${op}","payload":{"runId":${nested(20_000, "[", "]")},"agent":${nested(20_000, "[", "]")}}}`,
      `{"op":"${op}","payload":{"__proto__":{"runId":"a"},"constructor":1}}`,
      `{"op":"${op}","meta":${nested(20_000, '{"a":', "}")}}`,
      `{"op":"${op}","meta":{"a":${nested(20_000, "[", "]")}},"payload":null}`,
      `{"op":"${op}","payload":{"runId":1e400,"toolCallId":"${"x".repeat(100_000)}"}}`,
    ]),
    Buffer.alloc(0),
    Buffer.from('{"op":"workspace.list"}'),
    Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  ];
  const statuses = await send(hostile);
  expect(new Set(statuses)).toEqual(new Set([200, 400, 404, 413]));
});

const text = fc.oneof(
  fc.constantFrom("", "\0", "\ud800", "__proto__", "constructor", "../../x", "a\r\nb", "x".repeat(3000)),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
);
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(null, -0, 1e308, [], {}));
const op = fc.oneof(
  {
    arbitrary: fc.constantFrom(
      "agent.run",
      "agent.cancel",
      "agent.status",
      "agent.result",
      "agent.events",
      "tool.approve",
      "workspace.list",
    ),
    weight: 8,
  },
  { arbitrary: value, weight: 1 },
);
const whole: Record<string, unknown> = {
  agent: "fuzzed",
  input: "Hello.",
  provider: "memory",
  runId: "r",
  toolCallId: "call-1",
  decision: "approve",
  reason: "Because.",
  approvalId: "apr_1",
  taskId: "t",
  tools: [{ name: "b", input_schema: {} }],
  outputSchema: { type: "object" },
  files: [{ path: "a.md", content: "a" }],
  waitSeconds: 0,
  after: "unknown-1",
};
const payload = fc.oneof(
  {
    arbitrary: fc
      .tuple(fc.subarray(Object.keys(whole)), fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(whole)), text), value, { maxKeys: 2 }))
      .map(([kept, wrong]) => ({ ...Object.fromEntries(kept.map((name) => [name, whole[name]])), ...wrong })),
    weight: 5,
  },
  { arbitrary: fc.constant({ agent: "fuzzed", input: "Hello.", provider: "memory" }), weight: 3 },
  { arbitrary: fc.constant({}), weight: 2 },
  { arbitrary: value, weight: 1 },
);
const envelope = fc
  .record(
    { requestId: fc.oneof(text, value), op, payload, meta: fc.oneof(fc.dictionary(text, value, { maxKeys: 3 }), value), more: value },
    { requiredKeys: ["op"] },
  )
  .map((fields) => JSON.stringify(fields));
const frame = fc.oneof(
  { arbitrary: envelope, weight: 8 },
  { arbitrary: fc.string({ unit: anyCharacter, maxLength: 100 }).map((frame) => frame.toWellFormed()), weight: 1 },
  { arbitrary: value.map((any) => JSON.stringify(any)), weight: 1 },
  { arbitrary: envelope.map((whole) => whole.slice(0, -3).toWellFormed()), weight: 1 },
  { arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
);

test("each of 6000 random frames gets one response", async () => {
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 60, maxLength: 60 }), async (frames) => {
      for (const status of await send(frames)) seen.set(status, (seen.get(status) ?? 0) + 1);
    }),
    { numRuns: 100, endOnFailure: true },
  );
  // The test covers little if all frames fail the same check.
  for (const status of [200, 400, 404]) expect(seen.get(status) ?? 0).toBeGreaterThan(50);
  // The frames of this test block the event loop that it shares with Bridge. PostgreSQL can close a connection meanwhile, which is logged.
  expect(bridge.log.filter((line) => line.includes('"level":50') && line.includes("op failed"))).toEqual([]);
});
