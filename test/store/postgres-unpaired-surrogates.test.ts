import { expect, onTestFinished, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { createDatabase } from "../support/postgres/create-database.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const lines = [
  '{"type":"tool.invoked","toolCallId":"c","toolName":"cut","input":{"text":"\\ud83d"}}',
  '{"type":"tool.completed","toolCallId":"c","toolName":"cut","output":"\\ude00","isError":false}',
  '{"type":"result","output":"\\ud83d","outputs":{"\\ud83d":"\\ud83d"}}',
];

test("everything that Bridge stores and posts about unpaired surrogates is valid jsonb, also what an earlier version stored", async () => {
  const receiver = await startReceiver((response, _request, number) => {
    // The first attempt fails for good, so that the redelivery reads the body from the database.
    response.statusCode = number === 1 ? 503 : 200;
    response.end();
  });
  onTestFinished(receiver.close);
  const { urlAt, port, query } = await createDatabase({ isEmpty: true });
  const program = shellCommand(lines.map((line) => `printf '%s\\n' '${line}'`).join("; "));
  const bridge = await startBridgeProgram(await temporaryDirectory(), {
    ...{ BRIDGE_DATABASE_URL: urlAt(port), BRIDGE_CALLBACK_RETRIES: "0" },
    ...program,
  });
  const task = { taskId: "t1", agentId: "writer", message: "\ud83d", metadata: { note: "\ud83d" }, labels: { a: "\ud83d" } };
  expect((await dispatchTask(bridge, { ...task, callbackUrl: receiver.origin })).status).toBe(202);
  await taskInState(bridge, "t1", "completed");
  await expect.poll(() => receiver.posts.length).toBe(1);
  const [body] = await query<{ output: string }>("SELECT $1::jsonb ->> 'output' AS output", [String(receiver.posts[0]?.body)]);
  expect(body).toEqual({ output: "\ufffd" });
  expect(await query("SELECT count(data::jsonb)::int AS events FROM event")).toEqual([{ events: expect.any(Number) }]);
  expect(await query("SELECT request::jsonb ->> 'message' AS message, metadata::jsonb ->> 'note' AS note FROM task")).toEqual([
    { message: "\ufffd", note: "\ufffd" },
  ]);

  // What an earlier version stored.
  await query(`UPDATE event SET data = replace(data, U&'\\FFFD', '\\ud83d')`);
  await query(`UPDATE task SET result = replace(result, U&'\\FFFD', '\\ud83d')`);
  const events = await bridge.call("GET", "/api/v2/tasks/t1/events");
  const [read] = await query<{ input: string }>("SELECT $1::jsonb #>> '{data,1,data,input,text}' AS input", [await events.text()]);
  expect(read).toEqual({ input: "\ufffd" });
  await expect.poll(async () => (await bridge.call("POST", "/api/v2/callbacks/t1/redeliver")).status).toBe(202);
  await expect.poll(() => receiver.posts.length).toBeGreaterThan(1);
  expect(String(receiver.posts.at(-1)?.body)).toBe(String(receiver.posts[0]?.body));
});
