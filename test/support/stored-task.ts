import type { Task } from "../../src/task.ts";

/** Returns a task as the store returns it, in state `running` unless `fields` override it. */
export const storedTask = (fields: Omit<Partial<Task>, "request"> & { request?: Partial<Task["request"]> } = {}): Task => ({
  seq: 1,
  tenant: "default",
  taskId: "t1",
  parentTaskId: null,
  parentSeq: null,
  agentId: "a",
  provider: "command",
  state: "running",
  node: null,
  fingerprint: "",
  traceparent: null,
  tracestate: null,
  restarts: 0,
  createdAt: 0,
  startedAt: 0,
  finishedAt: null,
  result: null,
  ...fields,
  request: {
    message: "work",
    outputStrategy: { type: "stream" },
    profile: "inspect",
    approvals: "deny",
    onInterrupt: "fail",
    ...fields.request,
  },
});
