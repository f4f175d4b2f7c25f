import type { ExecutionAdapter, ExecutionResult } from "#contract";
import { BridgeError } from "../../errors.ts";
import type { Task } from "../../task.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import { toRejectedResult } from "../admission/describe-rejection.ts";
import { validateAtStart, workspaceOfPaths } from "../admission/validate-dispatch.ts";

interface StartCheckOptions {
  workspaces: Workspaces;
  mcpCommands: readonly string[];
}

/** Creates the check of a task at its start, because another node may have accepted it, which could not check everything. */
export function createStartCheck({ workspaces, mcpCommands }: StartCheckOptions) {
  /** Null if the task can run. */
  return (task: Task, adapter: ExecutionAdapter): ExecutionResult | null => {
    try {
      const { provider, request } = task;
      validateAtStart(request, { adapter, provider, mcpCommands, workspace: workspaceOfPaths(task, workspaces) });
      return null;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return toRejectedResult(error);
    }
  };
}
