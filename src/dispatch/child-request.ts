import type { ChildRequest } from "#contract";
import type { TaskRequest } from "../task.ts";

const CHILD_TIMEOUT_SECONDS = 600;

/** What a child is asked to do: no more than its parent may, and in no more time than its parent has left. Pure. */
export function toTaskRequest(child: ChildRequest, parent: TaskRequest, remainingMs: number): TaskRequest {
  const { message, systemPrompt, model, resumeToken, reasoningLevel, metadata, outputStrategy = { type: "stream" } } = child;
  const secondsLeft = Math.max(1, Math.ceil(remainingMs / 1000));
  return {
    message,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(model !== undefined && { model }),
    ...(resumeToken !== undefined && { resumeToken }),
    ...(reasoningLevel !== undefined && { reasoningLevel }),
    ...(metadata !== undefined && { metadata }),
    timeoutSeconds: Math.min(child.timeoutSeconds ?? CHILD_TIMEOUT_SECONDS, secondsLeft),
    outputStrategy,
    profile: parent.profile === "inspect" ? "inspect" : (child.profile ?? "modify"),
    approvals: parent.approvals,
    // What cut off the child has cut off its parent too.
    onInterrupt: "fail",
  };
}
