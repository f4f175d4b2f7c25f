import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { dispatchTask, startBridgeProgram, taskInState } from "../../support/bridge-program.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { installSdk } from "./sdk-fixture.ts";

/** An SDK that answers, but throws errors that no caller can catch: at load time, in `query`, in timers and in callbacks. */
const failing = `import { EventEmitter } from "node:events";
Promise.reject(new Error("fault: loaded"));
export function query({ options }) {
  Promise.reject(new Error("fault: asked"));
  setTimeout(() => { throw new Error("fault: later"); }, 5);
  const child = options.spawnClaudeCodeProcess({ command: options.pathToClaudeCodeExecutable, args: [], env: options.env });
  const heard = new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdout.on("data", async () => { throw new Error("fault: heard"); });
  child.on("exit", async () => { throw new Error("fault: ended"); });
  return { async *[Symbol.asyncIterator]() {
    await options.canUseTool("Bash", {}, { signal: new AbortController().signal, toolUseID: "t" });
    Promise.reject("fault: no error");
    setImmediate(() => new EventEmitter().emit("error", new Error("fault: emitted")));
    await heard;
    yield { type: "assistant", message: { id: "1", model: "m", content: [{ type: "text", text: "Hello." }] } };
    Promise.reject(new Error("fault: answered"));
    yield { type: "result", subtype: "success", is_error: false };
  } };
}`;

/** A program that passes the preflight and exits after a short time. */
const script = `case "$*" in
  --version) echo "2.1.328 (Claude Code)";;
  --help) echo "--restricted --setting-sources --settings --strict-mcp-config --system-prompt-snapshot --tools";;
  "auth status") echo '{"loggedIn":true,"authMethod":"key","apiProvider":"here"}';;
  *) echo heard; sleep 0.1;;
esac`;

test("uncaught errors of the SDK are logged and end neither the task nor Bridge", async () => {
  const root = await temporaryDirectory();
  const { directory, program } = installSdk(root, { sdk: failing, script });
  const bridge = await startBridgeProgram(root, {
    BRIDGE_ADAPTERS: "command,claude-agent-sdk",
    BRIDGE_COMMAND: JSON.stringify(["/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; echo done"]),
    BRIDGE_CLAUDE_AGENT_SDK_PACKAGE: directory,
    BRIDGE_CLAUDE_AGENT_SDK_COMMAND: program,
  });
  const start = async (body: object): Promise<string> => {
    const answer = await dispatchTask(bridge, body);
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { taskId: string }).taskId;
  };
  const other = await start({ provider: "command", agentId: "other", message: "wait" });
  const task = await start({ provider: "claude-agent-sdk", agentId: "a", message: "hello", profile: "modify", approvals: "deny" });
  expect(await taskInState(bridge, task, "completed")).toMatchObject({ result: { status: "ok", output: "Hello." } });
  const faults = () => bridge.log.filter(({ msg }) => String(msg).startsWith("uncaught error in the Claude Agent SDK"));
  const words = ["loaded", "asked", "later", "heard", "ended", "no error", "emitted", "answered"];
  await expect.poll(() => words.filter((word) => !JSON.stringify(faults()).includes(`fault: ${word}`)), { timeout: 5_000 }).toEqual([]);
  expect(faults().filter(({ taskId }) => taskId === task)).toHaveLength(words.length - 1);

  writeFileSync(path.join(root, "workspaces/default/other/go"), "");
  await taskInState(bridge, other, "completed");
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
});

test("an uncaught error of another adapter stops Bridge", async () => {
  const root = await temporaryDirectory();
  const file = path.join(root, "faulty.js");
  writeFileSync(
    file,
    `export const createAdapter = () => ({ provider: "faulty", initialize: async () => {}, shutdown: async () => {}, cancel: async () => true,
      checkHealth: async () => ({ status: "healthy", connection: "cli", version: null, detail: null, preflight: [] }),
      capabilities: () => ({ streaming: false, sessionResume: false, fileIo: false, mcpServers: false, tools: false, sandboxing: false, costTracking: false, management: false, approvals: false, cancellation: true, outputStrategies: ["stream"] }),
      execute: async () => { Promise.reject(new Error("no caller awaits this")); return { status: "ok", output: "", durationMs: 1, connection: "cli" }; } });`,
  );
  const bridge = await startBridgeProgram(root, { BRIDGE_ADAPTERS: file });
  expect((await dispatchTask(bridge, { provider: "faulty", agentId: "a", message: "x" })).status).toBe(202);
  expect(await bridge.exited).toBe(1);
  expect(JSON.stringify(bridge.log)).toContain("stopping after an unexpected error");
});
