import { z } from "zod";
import type { NormalizedUsage } from "#contract";
import type { LineReader, Step, Verdict } from "../shared/agent-program/run-program.ts";
import type { ProcessEnd } from "../shared/process/run-process.ts";
import { createSpokenText, type SpokenText } from "./answer-text.ts";
import { explainFailure, type ToldError } from "./failures.ts";

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
    // A version that counts in another way still tells how it ended.
    stats: statsSchema.optional().catch(undefined),
  }),
]);
type Line = z.infer<typeof lineSchema>;

/** Reads the lines of one task, and explains its exit by what they told. */
export interface GeminiReader {
  read: LineReader;
  explainExit(end: Pick<ProcessEnd, "exitCode" | "stderr">): Verdict | null;
  /** By the clock of the program. */
  spoken: SpokenText;
  /** The session, once a model has answered: only such a one is kept. */
  readonly keptSession: string | undefined;
}

/** Starts reading one task. */
export function createGeminiReader(): GeminiReader {
  let session: string | undefined;
  let error: ToldError | undefined;
  const spoken = createSpokenText();
  let hasAnswered = false;

  const readLine = (line: Line): readonly Step[] => {
    switch (line.type) {
      case "init":
        session = line.session_id;
        return [];
      case "message":
        if (line.role !== "assistant") return [];
        spoken.say(line.content, Date.parse(line.timestamp ?? ""));
        return [{ kind: "text", text: line.content }];
      case "tool_use":
        spoken.clear();
        hasAnswered = true;
        return [{ kind: "tool.invoked", toolCallId: line.tool_id, toolName: line.tool_name, input: line.parameters }];
      case "tool_result": {
        spoken.clear();
        const output = line.output ?? line.error?.message ?? "";
        return [{ kind: "tool.completed", toolCallId: line.tool_id, output, isError: line.status !== "success" }];
      }
      case "error":
        if (line.severity === "error" || stopsWork.test(line.message)) error = { message: line.message };
        return [{ kind: "progress", data: { severity: line.severity, message: line.message } }];
      case "result":
        error = line.error ?? error;
        return [...factsOf(line.stats, session), ...(line.status === "success" && error === undefined ? [succeeded] : [])];
    }
  };
  return {
    read(line) {
      const known = lineSchema.safeParse(line);
      return known.success ? readLine(known.data) : [];
    },
    // A failure is told with words alone, its exit says which one it is: so the exit is waited for.
    explainExit: ({ exitCode, stderr }) => explainFailure(exitCode, error, stderr),
    spoken,
    get keptSession() {
      return hasAnswered ? session : undefined;
    },
  };
}

/** A warning after which the program says no more, and yet that it succeeded. */
const stopsWork = /^Loop detected/;

const succeeded: Step = { kind: "ended", ending: { status: "ok" } };

/** A session in which no model has answered is not kept, so nobody can go on with it; and it has used nothing. */
function factsOf(stats: Stats | undefined, session: string | undefined): Step[] {
  if (stats === undefined || stats.total_tokens === 0) return [];
  const model = modelOf(stats);
  const facts = {
    usage: usageOf(stats),
    ...(session === undefined ? {} : { resumeToken: session }),
    ...(model === undefined ? {} : { model }),
  };
  return [{ kind: "known", facts }];
}

/** Counts of a task; thinking is what the total has beyond its two parts. */
export function usageOf({ total_tokens, input_tokens, output_tokens, cached }: Omit<Stats, "models">): NormalizedUsage {
  const thinkingTokens = Math.max(total_tokens - input_tokens - output_tokens, 0);
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens + thinkingTokens,
    thinkingTokens,
    ...(cached === undefined ? {} : { cacheReadTokens: cached }),
  };
}

/** The model that did most: where one is chosen automatically, a small one has chosen it. */
function modelOf({ models }: Stats): string | undefined {
  return Object.entries(models).sort(([, one], [, other]) => other.total_tokens - one.total_tokens)[0]?.[0];
}
