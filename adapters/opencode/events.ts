import { z } from "zod";
import type { LineReader, Step, Verdict } from "../shared/agent-program/run-program.ts";
import { errorSchema, explainError, explainFinish, failure } from "./failures.ts";
import { brokeOff, createBrokenCalls } from "./incomplete-answers.ts";
import { readTool, toolPartSchema } from "./tool-calls.ts";
import { stepFinishSchema, type Tally } from "./usage.ts";

const lineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("step_start"), sessionID: z.string() }),
  z.object({ type: z.literal("text"), sessionID: z.string(), part: z.object({ text: z.string() }) }),
  z.object({ type: z.literal("tool_use"), sessionID: z.string(), part: toolPartSchema }),
  z.object({ type: z.literal("step_finish"), sessionID: z.string(), part: stepFinishSchema }),
  z.object({ type: z.literal("error"), sessionID: z.string().optional(), error: errorSchema }),
]);

/** Reads the lines of `opencode run --format json`. */
export interface RunReader {
  read: LineReader;
  /** What the last model call that was told came to: only with the program's exit it is known to be the last. */
  verdict(): Verdict;
}

/** Begins to read the lines of one task. */
export function createRunReader(tally: Tally): RunReader {
  let reason: string | null = null;
  let isCalling = false;
  const brokenCalls = createBrokenCalls();

  const read: LineReader = (json) => {
    const line = lineSchema.safeParse(json).data;
    if (line === undefined) return [];
    const session: Step[] = line.sessionID === undefined ? [] : [{ kind: "known", facts: { resumeToken: line.sessionID } }];
    if (line.type === "step_start") {
      // The step before has not come to its end.
      const isAgain = isCalling;
      isCalling = true;
      return isAgain ? [...session, brokeOff] : session;
    }
    if (line.type === "text") return [...session, { kind: "text", text: line.part.text }];
    if (line.type === "error") return [...session, { kind: "ended", ending: explainError(line.error) }];
    if (line.type === "tool_use") {
      // What sub-agents use is not told here.
      if (line.part.tool === "task") tally.miss();
      return [...session, ...readTool(line.part)];
    }
    isCalling = false;
    reason = line.part.reason;
    tally.add(line.part);
    return [...session, ...brokenCalls(reason)];
  };
  const verdict = (): Verdict => {
    if (!isCalling) return explainFinish(reason);
    tally.miss();
    return linesLost;
  };
  return { read, verdict };
}

/** Such as on a full disk, where its output lies until it is read: its exit code is 0 all the same. */
const linesLost = failure("runtime_crashed", "OpenCode exited in the middle of a model call, or its last lines could not be written.");
