import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";

const CHILDREN = 12;

/**
 * An adapter whose task starts twelve children at once, as a council does, and waits for them, or asks for an approval if its message begins
 * with `ask`. Records each start in the journal of the task.
 *
 * @returns {import("bridge-server/contract").ExecutionAdapter}
 */
export function createAdapter() {
  let config = null;
  const running = new Set();
  const listeners = new Set();

  async function run({ taskId, message }) {
    const uptime = readFileSync("/proc/uptime", "utf8").split(" ")[0];
    appendFileSync(path.join(config.env.CRASH_TALLY, taskId), `start ${process.pid} ${uptime} ${config.dataDir}/\n`);
    const startedAt = performance.now();
    const result = await (message.startsWith("ask") ? ask(taskId) : runFamily(taskId, message));
    return { ...result, durationMs: performance.now() - startedAt, connection: "in-process" };
  }

  async function ask(taskId) {
    const call = { toolCallId: "1", toolName: "delete", input: {} };
    emit(taskId, "tool.invoked", call);
    const { decision } = await config.requestApproval({ taskId, ...call });
    emit(taskId, "tool.completed", { toolCallId: "1", toolName: "delete", output: decision, isError: false });
    return { status: "ok", output: decision };
  }

  function emit(taskId, type, data) {
    for (const listener of listeners) listener({ type, taskId, data });
  }

  async function runFamily(taskId, message) {
    const children = Array.from({ length: CHILDREN }, (_, index) =>
      config.runChild({ parentTaskId: taskId, provider: "command", message: `slow child ${index} of ${message}` }),
    );
    const failed = (await Promise.all(children)).find(({ status }) => status !== "ok");
    return failed === undefined ? { status: "ok", output: "done" } : { status: "error", errorCode: failed.errorCode, error: failed.error };
  }

  return {
    provider: "scripted",
    async initialize(given) {
      config = given;
    },
    async shutdown() {
      await Promise.allSettled(running);
      config = null;
    },
    async checkHealth() {
      if (config === null) return { status: "offline", connection: null, version: null, detail: "not initialized", preflight: [] };
      return { status: "healthy", connection: "in-process", version: "1", detail: null, preflight: [] };
    },
    capabilities: () => ({
      streaming: true,
      sessionResume: false,
      fileIo: false,
      mcpServers: false,
      tools: false,
      sandboxing: false,
      costTracking: false,
      management: false,
      approvals: true,
      cancellation: true,
      outputStrategies: ["stream"],
    }),
    execute(request) {
      const work = run(request);
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    // Bridge cancels the children, and their ends end the task.
    cancel: async () => true,
    onEvent: (listener) => void listeners.add(listener),
    offEvent: (listener) => void listeners.delete(listener),
  };
}
