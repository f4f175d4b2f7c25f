import { AsyncResource } from "node:async_hooks";
import { nullIfAborted } from "@hak2i/async-kit";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import { decideApproval } from "../shared/agent-program/decide-approval.ts";
import type { CanUseTool } from "./sdk.ts";

/** Creates the `canUseTool` callback of a task. It denies a call when the task stops or the program exits (`exited`) before a decision. */
export function createPermissionHandler(task: ProgramTask, exited: AbortSignal): CanUseTool {
  return AsyncResource.bind(async (toolName, input, { signal, toolUseID: toolCallId }) => {
    // The SDK calls this before it delivers messages that the program sent earlier. Waits until it has delivered them.
    await new Promise(setImmediate);
    task.timeline.startTool(toolCallId, toolName, input);
    const stop = AbortSignal.any([signal, task.signal, exited]);
    const decision = stop.aborted ? null : await nullIfAborted(decideApproval(task, { toolCallId, toolName, input }), stop);
    if (decision === null || stop.aborted) return { behavior: "deny", message: "The task is being stopped." };
    if (decision.allow) return { behavior: "allow", updatedInput: input };
    // The model receives only this message, so it also states that the call did not run.
    return { behavior: "deny", message: `The call was refused permission and has not run: ${decision.reason}` };
  });
}
