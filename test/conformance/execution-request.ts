import path from "node:path";
import type { ExecutionRequest } from "#contract";

/** A request with all permissions, whose workspace is `root`. `home` and `tmp` are below it and are not created. */
export function createExecutionRequest(root: string, changes: Partial<ExecutionRequest> = {}): ExecutionRequest {
  return {
    taskId: "t1",
    agentId: "agent",
    message: "Do it.",
    timeoutSeconds: 60,
    outputStrategy: { type: "stream" },
    profile: "modify",
    approvals: "allow",
    directories: { workspace: root, cwd: root, home: path.join(root, "home"), tmp: path.join(root, "tmp") },
    ...changes,
  };
}
