import { z } from "zod";
import type { NormalizedUsage } from "#contract";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";

/** Every count of a usage. */
type Counts = Record<keyof NormalizedUsage, number>;

/** The tools that set a sub-agent to work, whose tokens Codex counts nowhere that it tells of. */
export const subAgentTools: readonly string[] = ["spawn_agent", "resume_agent", "send_input"];

const count = z.number().nonnegative();
const totalSchema = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_input_tokens: count.optional(),
  output_tokens: count,
  reasoning_output_tokens: count,
});

/** What `codex exec` tells of a session in all; the cached tokens are part of the input, reasoning is part of the output. */
export function readSessionUsage(reported: unknown): Counts | undefined {
  const usage = totalSchema.safeParse(reported).data;
  if (usage === undefined) return undefined;
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    thinkingTokens: usage.reasoning_output_tokens,
    cacheReadTokens: usage.cached_input_tokens,
    cacheWriteTokens: usage.cache_write_input_tokens ?? 0,
  };
}

const turnSchema = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedReadTokens: count.default(0),
  cachedWriteTokens: count.default(0),
  thoughtTokens: count.default(0),
});

/** What `codex-acp` tells of one turn: here the cached tokens are no part of the input. */
export function readTurnUsage(reported: unknown): Counts | undefined {
  const usage = turnSchema.safeParse(reported).data;
  if (usage === undefined) return undefined;
  return {
    inputTokens: usage.inputTokens + usage.cachedReadTokens + usage.cachedWriteTokens,
    outputTokens: usage.outputTokens,
    thinkingTokens: usage.thoughtTokens,
    cacheReadTokens: usage.cachedReadTokens,
    cacheWriteTokens: usage.cachedWriteTokens,
  };
}

const nothing: Counts = { inputTokens: 0, outputTokens: 0, thinkingTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** What the session of a task had used before it; undefined when that is not known. */
export async function usageBefore({ request, totals }: Pick<ProgramTask, "request" | "totals">): Promise<NormalizedUsage | undefined> {
  if (request.resumeToken === undefined) return nothing;
  return (await totals.read(request.directories.home, request.resumeToken))?.usage;
}

/** Keeps what a session has used in all; unknown, it is unknown to its next task too. */
export async function keepTotal(
  { request, totals }: Pick<ProgramTask, "request" | "totals">,
  session: string | undefined,
  usage: NormalizedUsage | undefined,
): Promise<void> {
  if (session !== undefined) await totals.write(request.directories.home, session, usage === undefined ? {} : { usage });
}

/** The counts as a result tells them: only some models tell cache writes apart. */
export function toldUsage(usage: Counts | undefined): NormalizedUsage | undefined {
  if (usage === undefined || usage.cacheWriteTokens > 0) return usage;
  const { cacheWriteTokens: _, ...told } = usage;
  return told;
}

/** Adds (or, with -1, subtracts) counts; undefined when either is not known. */
export function combine(one: NormalizedUsage | undefined, other: NormalizedUsage | undefined, sign: 1 | -1): Counts | undefined {
  if (one === undefined || other === undefined) return undefined;
  const counts = Object.keys(nothing) as (keyof Counts)[];
  const entries = counts.map((count) => [count, (one[count] ?? 0) + sign * (other[count] ?? 0)] as const);
  return entries.some(([, value]) => value < 0) ? undefined : (Object.fromEntries(entries) as Counts);
}
