import type { AdapterEvent } from "#contract";
import { UNREPORTED_END } from "../../events/unreported-end.ts";

/** Maximum number of open calls of one task. Further calls are not tracked, so that a faulty runtime cannot fill the memory. */
const OPEN_CALLS_LIMIT = 1_000;

/** Creates the list of the tool calls of one task whose end the runtime has not reported yet. */
export function createOpenCalls(taskId: string) {
  const toolNames = new Map<string, string>();
  return {
    /** Records an event of the task. */
    add({ type, data }: AdapterEvent): void {
      if (type === "tool.invoked" && toolNames.size < OPEN_CALLS_LIMIT) toolNames.set(data.toolCallId, data.toolName);
      else if (type === "tool.completed") toolNames.delete(data.toolCallId);
    },
    /** Whether a call is open. */
    hasAny: (): boolean => toolNames.size > 0,
    /** Removes all calls, and returns the event that ends each of them. Calls that `isKept` accepts get no end. */
    end(isKept: (toolCallId: string) => boolean): AdapterEvent[] {
      const ended = [...toolNames].filter(([toolCallId]) => !isKept(toolCallId));
      toolNames.clear();
      return ended.map(([toolCallId, toolName]) => ({
        type: "tool.completed",
        taskId,
        data: { toolCallId, toolName, output: UNREPORTED_END, isError: true },
      }));
    },
  };
}
