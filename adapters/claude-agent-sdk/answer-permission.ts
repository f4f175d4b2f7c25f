import { AsyncResource } from "node:async_hooks";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import { decideCall } from "../shared/agent-program/decide-call.ts";
import { unlessAborted } from "../shared/agent-program/unless-aborted.ts";
import type { CanUseTool } from "./sdk.ts";

/** Makes who answers the questions of a task's program, until it is gone. However the wait for an answer ends, without a yes it is a no. */
export function createAnswering(task: ProgramTask, gone: AbortSignal): CanUseTool {
  return AsyncResource.bind(async (toolName, input, { signal, toolUseID: toolCallId }) => {
    // The SDK hands a question on at once, and what the program has told before it in its turn.
    await new Promise(setImmediate);
    task.story.invokeTool(toolCallId, toolName, input);
    const stopped = AbortSignal.any([signal, task.signal, gone]);
    const decision = stopped.aborted ? null : await unlessAborted(decideCall(task, { toolCallId, toolName, input }), stopped, 0);
    if (decision === null || stopped.aborted) return { behavior: "deny", message: "The task is being stopped." };
    if (decision.allow) return { behavior: "allow", updatedInput: input };
    // All that the model hears of it, so it says what has happened, too.
    return { behavior: "deny", message: `The call was refused permission and has not run: ${decision.reason}` };
  });
}
