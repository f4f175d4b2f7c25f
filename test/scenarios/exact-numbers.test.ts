import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startBridgeApp } from "../support/bridge-app.ts";
import { shellCommand, taskInState } from "../support/bridge-program.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const ID = "653247040368672769";
const ORDER = `{"order_id":${ID},"huge":[1e999,-${ID}],"small":0.1}`;

/** Starts a Bridge whose program prints these lines, dispatches a task, and returns what clients read about it. */
async function run(lines: readonly string[], fields: object = {}) {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, "lines");
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  const bridge = await startBridgeApp(dataDir, shellCommand(`cat ${file}`));
  const body = { taskId: "t", agentId: "a", message: "go", callbackUrl: receiver.origin, ...fields };
  expect((await bridge.call("POST", "/api/v2/dispatch", body)).status).toBe(202);
  await expect.poll(() => receiver.posts.length).toBe(1);
  const read = async (target: string): Promise<string> => (await bridge.call("GET", target)).text();
  return { bridge, read, callback: String(receiver.posts[0]?.body) };
}

test("numbers that a program prints keep all digits in events, result, list and callback", async () => {
  const { read, callback } = await run([
    `\uFEFF{"type":"tool.invoked","toolCallId":"1","toolName":"t","input":${ORDER}}`,
    `\x1b[0m {"type":"tool.completed","toolCallId":"1","toolName":"t","output":${ORDER},"isError":false}\x1b[0m`,
    `{"type":"execution.progress","order":${ID}}`,
    `{"type":"result","outputs":${ORDER}}`,
  ]);
  const task = await read("/api/v2/tasks/t");
  expect(JSON.parse(task)).toMatchObject({ state: "completed", result: { status: "ok" } });
  expect(task).toContain(`"outputs":${ORDER}`);
  expect(callback).toContain(`"outputs":${ORDER}`);
  const events = await read("/api/v2/tasks/t/events");
  expect(events).toContain(`"input":${ORDER}`);
  expect(events).toContain(`"output":${ORDER}`);
  expect(events).toContain(`"order":${ID}`);
});

test("the object of a long answer keeps its digits", async () => {
  const text = JSON.stringify("x".repeat(300_000));
  const { bridge, read, callback } = await run([`{"type":"result","output":${text},"outputs":${ORDER}}`]);
  await taskInState(bridge, "t", "completed");
  expect(await read("/api/v2/tasks/t")).toContain(`"outputs":${ORDER}`);
  expect(callback).toContain(`"outputs":${ORDER}`);
});

test("an object that a schema checks keeps its digits", async () => {
  const outputSchema = { type: "object", properties: { order_id: { type: "integer" } }, required: ["order_id"] };
  const { read } = await run([`{"order_id":${ID}}`], { outputSchema });
  const task = await read("/api/v2/tasks/t");
  expect(JSON.parse(task)).toMatchObject({ state: "completed", result: { output: `{"order_id":${ID}}` } });
  expect(task).toContain(`"outputs":{"order_id":${ID}}`);
});

test("a number beyond the range of a double does not match a schema of numbers", async () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } } };
  const { read } = await run(['{"n":1e999}'], { outputSchema });
  expect(JSON.parse(await read("/api/v2/tasks/t"))).toMatchObject({ state: "failed", result: { errorCode: "output_invalid" } });
});

test("a result line that begins with a byte order mark is the result", async () => {
  const { read } = await run(['\uFEFF{"type":"result","status":"error","errorCode":"model_error","error":"quota exhausted"}']);
  const task = JSON.parse(await read("/api/v2/tasks/t"));
  expect(task).toMatchObject({ state: "failed", result: { errorCode: "model_error", error: "quota exhausted" } });
});
