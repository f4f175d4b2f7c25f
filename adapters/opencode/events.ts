import { z } from "zod";
import type { LineReader, Outcome, Step } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { errorSchema, explainError, explainFinish } from "./failures.ts";
import { createIncompleteAnswerCounter, DISCARD_INCOMPLETE_ANSWER } from "./incomplete-answers.ts";
import { readToolCall, toolPartSchema } from "./tool-calls.ts";
import { stepFinishSchema, type Tally } from "./usage.ts";

const BEFORE_CALL = "The text precedes a tool call.";

const lineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("step_start"), sessionID: z.string() }),
  z.object({ type: z.literal("text"), sessionID: z.string(), part: z.object({ text: z.string() }) }),
  z.object({ type: z.literal("tool_use"), sessionID: z.string(), part: toolPartSchema }),
  z.object({ type: z.literal("step_finish"), sessionID: z.string(), part: stepFinishSchema }),
  z.object({ type: z.literal("error"), sessionID: z.string().optional(), error: errorSchema }),
]);

/** Reads the output of `opencode run --format json`. */
export interface RunReader {
  read: LineReader;
  /** Returns the outcome of the last reported model call; valid after the program has exited. */
  getOutcome(): Outcome;
}

/** Creates the reader for the output of one task. */
export function createRunReader(tally: Tally): RunReader {
  let reason: string | null = null;
  let isCalling = false;
  const countIncomplete = createIncompleteAnswerCounter();

  const read: LineReader = (json) => {
    const line = lineSchema.safeParse(json).data;
    if (line === undefined) return [];
    const session: Step[] = line.sessionID === undefined ? [] : [{ kind: "facts", facts: { resumeToken: line.sessionID } }];
    if (line.type === "step_start") {
      // A step that starts before the previous one has finished is a retry.
      const isRetry = isCalling;
      isCalling = true;
      return isRetry ? [...session, DISCARD_INCOMPLETE_ANSWER] : session;
    }
    if (line.type === "text") return [...session, { kind: "text", text: line.part.text }];
    if (line.type === "error") return [...session, { kind: "ended", outcome: explainError(line.error) }];
    if (line.type === "tool_use") {
      // OpenCode does not report the usage of sub-agents here.
      if (line.part.tool === "task") tally.markIncomplete();
      return [...session, ...readToolCall(line.part)];
    }
    isCalling = false;
    reason = line.part.reason;
    tally.add(line.part);
    // The text of this step came before its tool call, although OpenCode can print it after the call.
    const beforeCall: Step[] = reason === "tool-calls" ? [{ kind: "discarded", reason: BEFORE_CALL }] : [];
    return [...session, ...beforeCall, ...countIncomplete(reason)];
  };
  const getOutcome = (): Outcome => {
    if (!isCalling) return explainFinish(reason);
    tally.markIncomplete();
    return INCOMPLETE_OUTPUT;
  };
  return { read, getOutcome };
}

/**
 * The failure of a task whose output is incomplete. OpenCode writes its output to a file: on a full disk, it loses lines and still exits
 * with 0.
 */
const INCOMPLETE_OUTPUT = failure("runtime_crashed", "OpenCode exited during a model call, or its last lines could not be written.");
