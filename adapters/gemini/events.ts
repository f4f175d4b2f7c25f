import { z } from "zod";
import type { NormalizedUsage } from "#contract";
import type { LineReader, Outcome, Step } from "../shared/agent-program/run-program.ts";
import type { ProcessEnd } from "../shared/process/run-process.ts";
import { type AnswerText, createAnswerText } from "./answer-text.ts";
import { explainFailure, type ReportedError } from "./failures.ts";

const count = z.number().nonnegative();
const statsSchema = z.object({
  total_tokens: count,
  input_tokens: count,
  output_tokens: count,
  cached: count.optional(),
  models: z.record(z.string(), z.object({ total_tokens: count })).default({}),
});
type Stats = z.infer<typeof statsSchema>;

const lineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("init"), session_id: z.string() }),
  z.object({ type: z.literal("message"), role: z.string(), content: z.string(), timestamp: z.string().optional() }),
  z.object({ type: z.literal("tool_use"), tool_id: z.string(), tool_name: z.string(), parameters: z.unknown() }),
  z.object({
    type: z.literal("tool_result"),
    tool_id: z.string(),
    status: z.string(),
    output: z.unknown(),
    error: z.object({ message: z.string() }).optional(),
  }),
  z.object({ type: z.literal("error"), severity: z.string(), message: z.string() }),
  z.object({
    type: z.literal("result"),
    status: z.string(),
    error: z.object({ type: z.string().optional(), message: z.string() }).optional(),
    // Another version may report other counts, but its status is still valid.
    stats: statsSchema.optional().catch(undefined),
  }),
]);
type Line = z.infer<typeof lineSchema>;

/** Reads the JSON lines of one task and explains its exit. */
export interface GeminiReader {
  read: LineReader;
  explainExit(end: Pick<ProcessEnd, "exitCode" | "stderr">): Outcome | null;
  /** The answer, with times of Gemini's clock. */
  answer: AnswerText;
  /** The id of the session; undefined until Gemini has stored it. A tool call proves it: Gemini stores a session with the first answer. */
  readonly storedSession: string | undefined;
}

/** Creates the reader for the output of one task. */
export function createGeminiReader(): GeminiReader {
  let session: string | undefined;
  let error: ReportedError | undefined;
  const answer = createAnswerText();
  let isSessionStored = false;

  const readLine = (line: Line): readonly Step[] => {
    switch (line.type) {
      case "init":
        session = line.session_id;
        return [];
      case "message":
        if (line.role !== "assistant") return [];
        answer.add(line.content, Date.parse(line.timestamp ?? ""));
        return [{ kind: "text", text: line.content }];
      case "tool_use":
        answer.clear();
        isSessionStored = true;
        return [{ kind: "tool.invoked", toolCallId: line.tool_id, toolName: line.tool_name, input: line.parameters }];
      case "tool_result": {
        answer.clear();
        const output = line.output ?? line.error?.message ?? "";
        return [{ kind: "tool.completed", toolCallId: line.tool_id, output, isError: line.status !== "success" }];
      }
      case "error":
        if (line.severity === "error" || LOOP_WARNING.test(line.message)) error = { message: line.message };
        return [{ kind: "progress", data: { severity: line.severity, message: line.message } }];
      case "result":
        error = line.error ?? error;
        return [...readFacts(line.stats, session), ...(line.status === "success" && error === undefined ? [SUCCESS] : [])];
    }
  };
  return {
    read(line) {
      const known = lineSchema.safeParse(line);
      return known.success ? readLine(known.data) : [];
    },
    // The exit code identifies a failure; the lines contain only its message.
    explainExit: ({ exitCode, stderr }) => explainFailure(exitCode, error, stderr),
    answer,
    get storedSession() {
      return isSessionStored ? session : undefined;
    },
  };
}

/** A warning after which Gemini stops its work and still reports success. */
const LOOP_WARNING = /^Loop detected/;

const SUCCESS: Step = { kind: "ended", outcome: { status: "ok" } };

/**
 * Reads the facts of the result. Without a model answer there is no usage, and Gemini does not store the session, so it cannot be resumed.
 */
function readFacts(stats: Stats | undefined, session: string | undefined): Step[] {
  if (stats === undefined || stats.total_tokens === 0) return [];
  const model = modelOf(stats);
  const facts = {
    usage: usageOf(stats),
    ...(session === undefined ? {} : { resumeToken: session }),
    ...(model === undefined ? {} : { model }),
  };
  return [{ kind: "facts", facts }];
}

/** Reads the usage of a task. The thinking tokens are the difference between the total and input plus output. */
export function usageOf({ total_tokens, input_tokens, output_tokens, cached }: Omit<Stats, "models">): NormalizedUsage {
  const thinkingTokens = Math.max(total_tokens - input_tokens - output_tokens, 0);
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens + thinkingTokens,
    thinkingTokens,
    ...(cached === undefined ? {} : { cacheReadTokens: cached }),
  };
}

/**
 * Returns the model with the most tokens. With automatic selection, the statistics also contain the small model that makes the selection.
 */
function modelOf({ models }: Stats): string | undefined {
  return Object.entries(models).sort(([, one], [, other]) => other.total_tokens - one.total_tokens)[0]?.[0];
}
