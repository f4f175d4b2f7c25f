import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ApprovalQuestion } from "#contract";
import { processesOf } from "../../conformance/adapter-bench.ts";
import { openSdk } from "./sdk-fixture.ts";

/** Returns an SDK whose `query` has this body; the body calls `start()` to start its program. */
const sdkOf = (body: string): string => `export function query({ prompt, options }) {
  const start = (argument = "") =>
    options.spawnClaudeCodeProcess({ command: options.pathToClaudeCodeExecutable, args: [argument], env: options.env });
  const result = (fields) => ({ type: "result", subtype: "success", is_error: false, ...fields });
  ${body}
}`;
const hello = `{ type: "assistant", message: { id: "1", model: "m", content: [{ type: "text", text: "Hello." }] } }`;

/** Collects uncaught errors, which would crash Bridge. */
function uncaught(): unknown[] {
  const errors: unknown[] = [];
  const take = (error: unknown): void => void errors.push(error);
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    const others = process.listeners(event as "uncaughtException");
    process.removeAllListeners(event);
    process.on(event, take);
    onTestFinished(() => {
      process.off(event, take);
      for (const other of others) process.on(event as "uncaughtException", other);
    });
  }
  return errors;
}
const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
};

test("the task ends with its program when the SDK never ends after the result", async () => {
  const { run } = await openSdk("exit 0", {
    sdk: sdkOf(`return { async *[Symbol.asyncIterator]() { start(); yield ${hello}; yield result(); await new Promise(() => {}); } };`),
  });
  expect(await run()).toMatchObject({ status: "ok", output: "Hello." });
});

test("a task is canceled when the SDK neither starts a program nor sends a message", async () => {
  const { start, adapter } = await openSdk("", {
    sdk: sdkOf(
      `return { interrupt() { return new Promise(() => {}); }, async *[Symbol.asyncIterator]() { await new Promise(() => {}); } };`,
    ),
  });
  const task = start();
  await turns();
  await adapter.cancel(task.request.taskId);
  expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
});

test("a task that exceeds the output limit ends although the SDK's iterator never returns", async () => {
  const { run } = await openSdk("sleep 60", {
    sdk: sdkOf(`start(); let turn = 0; return { interrupt: async () => {}, [Symbol.asyncIterator]: () => ({
      next: () => (turn++ < 9 ? Promise.resolve({ done: false, value: ${hello.replace('"Hello."', '"x".repeat(5_000_000)').replace('id: "1"', "id: String(turn)")} }) : new Promise(() => {})),
      return: () => new Promise(() => {}),
    }) };`),
  });
  expect(await run()).toMatchObject({ status: "error", errorCode: "output_limit" });
});

test("an SDK cannot start a second program, and no process remains", async () => {
  const { start } = await openSdk('[ "$1" = second ] || sleep 60', {
    sdk: sdkOf(`const first = start("first"); try { start("second"); } catch { first.kill(); }
      return { async *[Symbol.asyncIterator]() { yield result(); } };`),
  });
  const task = start();
  await task.done;
  expect(processesOf(task.request.taskId)).toEqual([]);
});

test("an SDK cannot start its program after the task has ended", async () => {
  const { start, root } = await openSdk('echo started > "$HOME/started"; sleep 60', {
    sdk: sdkOf(`setTimeout(() => { try { start(); } catch {} globalThis.triedLate = true; }, 50);
      return { async *[Symbol.asyncIterator]() { yield ${hello}; yield result(); } };`),
  });
  const task = start();
  expect((await task.done).result).toMatchObject({ status: "ok" });
  await expect.poll(() => (globalThis as { triedLate?: boolean }).triedLate, { interval: 5 }).toBe(true);
  await turns();
  expect(processesOf(task.request.taskId)).toEqual([]);
  expect(() => readFileSync(path.join(root, "home/started"))).toThrow("ENOENT");
});

test("invalid messages, a throwing interrupt and writes after the exit fail only the task", async () => {
  const errors = uncaught();
  const garbage = `yield null; yield undefined; yield 7; yield []; yield { get type() { return "result"; } };`;
  const { start, adapter } = await openSdk("sleep 60", {
    sdk: sdkOf(
      `const child = start(); child.stdin.end(); return { async *[Symbol.asyncIterator]() { ${garbage} yield ${hello}; await new Promise(() => {}); }, interrupt() { child.stdin.write("x"); throw new Error("no"); } };`,
    ),
  });
  const task = start();
  await expect.poll(() => task.events.length, { interval: 5 }).toBe(1);
  await adapter.cancel(task.request.taskId);
  expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled", output: "Hello." });
  expect(processesOf(task.request.taskId)).toEqual([]);

  const notStarted = await openSdk("", {
    interpreter: "#!/nowhere/sh",
    sdk: sdkOf(`start(); return { async *[Symbol.asyncIterator]() { yield ${hello}; } };`),
  });
  expect(await notStarted.run()).toMatchObject({ errorCode: "spawn_failed" });
  await turns();
  expect(errors).toEqual([]);
});

test("a permission request after the end is denied without an approval request", async () => {
  const questions: ApprovalQuestion[] = [];
  const { start } = await openSdk("", {
    sdk: sdkOf(`const ask = () => options.canUseTool("Bash", {}, { signal: new AbortController().signal, toolUseID: "late" }).then((said) => { globalThis.saidLate = said; });
      setTimeout(ask, 50); return { async *[Symbol.asyncIterator]() { yield result(); } };`),
    requestApproval: async (question) => {
      questions.push(question);
      return { decision: "approve", reason: null };
    },
  });
  const task = start({ approvals: "ask" });
  await task.done;
  const said = () => (globalThis as { saidLate?: { behavior: string } }).saidLate;
  await expect.poll(said, { interval: 5 }).toMatchObject({ behavior: "deny" });
  expect(questions).toEqual([]);
});

test("the program does not receive Bridge's environment when the SDK passes it on", async () => {
  vi.stubEnv("BRIDGE_TEST_SECRET", "s3cret");
  const { run, root } = await openSdk('echo "[$BRIDGE_TEST_SECRET][$CLAUDE_CODE_ENTRYPOINT]" > "$HOME/seen"', {
    sdk: sdkOf(`const env = { ...process.env, ...options.env, CLAUDE_CODE_ENTRYPOINT: "sdk-ts" };
      options.spawnClaudeCodeProcess({ command: options.pathToClaudeCodeExecutable, args: [], env });
      return { async *[Symbol.asyncIterator]() { yield result(); } };`),
  });
  await run();
  expect(readFileSync(path.join(root, "home/seen"), "utf8")).toBe("[][sdk-ts]\n");
});

test.each([
  ["does not export query()", "export const ask = 1;"],
  ["throws", "throw new Error('Broken.');"],
  ["is not a valid module", "export {"],
])("a package that %s fails the task before any health check", async (_, sdk) => {
  const { run } = await openSdk("", { sdk });
  const result = await run();
  expect(result).toMatchObject({ status: "error", errorCode: "adapter_offline", error: expect.stringContaining("cannot be loaded") });
  expect(result.error).not.toMatch(/\/(tmp|dev)\//);
});

test("a task can be canceled and the adapter shut down while the package is still loading", async () => {
  const { start, adapter } = await openSdk("", { sdk: "await new Promise(() => {}); export const query = 1;" });
  const task = start();
  await turns();
  await adapter.cancel(task.request.taskId);
  expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
  const health = adapter.checkHealth();
  await turns();
  await adapter.shutdown();
  expect(await health).toMatchObject({ status: "offline" });
});
