import type { ExecutionRequest, TaskErrorCode } from "#contract";
import { failure } from "../process/failure.ts";
import { isLimitNotice, limitFailure } from "../process/rate-limit-message.ts";
import { textLimitFailure } from "../process/text-limit.ts";
import type { ConnectionResult, EmptyAnswers } from "./agent-program.ts";
import type { Outcome } from "./run-program.ts";
import type { TaskTimeline } from "./task-timeline.ts";

/** The answer of a task and the facts that decide whether it is a success. */
interface AnswerContext {
  request: Pick<ExecutionRequest, "outputStrategy">;
  timeline: TaskTimeline;
  /** Default: `after tools`. */
  emptyAnswers?: EmptyAnswers | undefined;
}

/** Failures that keep an answer: the partial text of a stopped task, and text that does not match the schema. */
const FAILURES_WITH_ANSWER: readonly (TaskErrorCode | undefined)[] = ["cancelled", "output_invalid"];

/**
 * Ends the event log of a task and sets the output: the answer of a success, or the partial answer of a stopped task.
 * An error text is never the output, nor a notice of a limit. An empty answer of a success is handled as `EmptyAnswers` describes.
 */
export function finishAnswer(result: ConnectionResult, context: AnswerContext): ConnectionResult {
  const { timeline } = context;
  if (result.status === "ok" && result.output !== undefined) timeline.settleAnswer(result.output);
  timeline.close();
  // Checked after `settleAnswer`, because the reported answer can exceed the limit even if the streamed text did not.
  const ending = timeline.isTooLong ? { ...result, ...textLimitFailure } : result;
  const { answer } = timeline;
  if (ending.status === "error")
    return FAILURES_WITH_ANSWER.includes(ending.errorCode) && answer !== "" ? { ...ending, output: answer } : ending;
  const output = ending.output ?? answer;
  if (ending.outputs === undefined && isLimitNotice(output)) return withoutOutput(ending, limitFailure(output));
  if (output.trim() !== "" || ending.outputs !== undefined || isAccepted(context)) return { ...ending, output };
  return withoutOutput(ending, failure("model_error", timeline.hasTools ? `${NO_ANSWER} ${CHANGES_REMAIN}` : NO_ANSWER));
}

function withoutOutput({ output: _, ...rest }: ConnectionResult, outcome: Outcome): ConnectionResult {
  return { ...rest, ...outcome };
}

/** Decides whether an empty answer is a success. A task with a file output has its answer in the file. */
function isAccepted({ request, timeline, emptyAnswers = "after tools" }: AnswerContext): boolean {
  if (emptyAnswers === "accepted") return true;
  return timeline.hasTools && (emptyAnswers === "after tools" || request.outputStrategy.type === "file");
}

const NO_ANSWER = "The runtime ended without an answer and does not report why. The model may have refused the task.";
const CHANGES_REMAIN = "Changes that its tools made are not undone.";
