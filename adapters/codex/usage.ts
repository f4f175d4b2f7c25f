import { z } from "zod";
import type { NormalizedUsage } from "#contract";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";

/** A usage with all counts that Codex reports. */
type Counts = Record<Exclude<keyof NormalizedUsage, "cacheWrite1hTokens">, number>;

/** Tools that run sub-agents, whose usage Codex does not report. */
export const SUB_AGENT_TOOLS: readonly string[] = ["spawn_agent", "resume_agent", "send_input"];

const count = z.number().nonnegative();
const totalSchema = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_input_tokens: count.optional(),
  output_tokens: count,
  reasoning_output_tokens: count,
});

/** Reads the total usage of a session from `codex exec`. The input includes cached tokens, the output includes reasoning. */
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

/** Reads the usage of one turn from `codex-acp`. The input excludes cached tokens. */
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

const ZERO: Counts = { inputTokens: 0, outputTokens: 0, thinkingTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Returns the usage of the task's session before the task; undefined if it is unknown. */
export async function readPreviousUsage({
  request,
  totals,
}: Pick<ProgramTask, "request" | "totals">): Promise<NormalizedUsage | undefined> {
  if (request.resumeToken === undefined) return ZERO;
  return (await totals.read(request.directories.home, request.resumeToken))?.usage;
}

/** Stores the total usage of a session for its next task. Undefined: the usage is unknown. */
export async function writeTotalUsage(
  { request, totals }: Pick<ProgramTask, "request" | "totals">,
  session: string | undefined,
  usage: NormalizedUsage | undefined,
): Promise<void> {
  if (session !== undefined) await totals.write(request.directories.home, session, usage === undefined ? {} : { usage });
}

/** Omits cache writes of 0, because only some models report them. */
export function normalizeUsage(usage: Counts | undefined): NormalizedUsage | undefined {
  if (usage === undefined || usage.cacheWriteTokens > 0) return usage;
  const { cacheWriteTokens: _, ...rest } = usage;
  return rest;
}

/** Adds counts, or subtracts `other` if the sign is -1. Returns undefined if either is unknown or a difference is negative. */
export function combineUsage(one: NormalizedUsage | undefined, other: NormalizedUsage | undefined, sign: 1 | -1): Counts | undefined {
  if (one === undefined || other === undefined) return undefined;
  const counts = Object.keys(ZERO) as (keyof Counts)[];
  const entries = counts.map((count) => [count, (one[count] ?? 0) + sign * (other[count] ?? 0)] as const);
  return entries.some(([, value]) => value < 0) ? undefined : (Object.fromEntries(entries) as Counts);
}
