import { z } from "zod";
import type { NormalizedUsage } from "#contract";

const count = z.number().nonnegative();
const responseSchema = z.object({
  usage: z.object({
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    thoughtTokens: count.nullish(),
    cachedReadTokens: count.nullish(),
    cachedWriteTokens: count.nullish(),
  }),
});

/**
 * Reads the usage that an agent reports in a field that the protocol does not define yet. Agents differ in whether the input includes
 * cached tokens and the output includes thinking; the total shows which. Undefined if no interpretation matches the total.
 */
export function readUsage(response: unknown): NormalizedUsage | undefined {
  const { usage } = responseSchema.safeParse(response).data ?? {};
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens, totalTokens } = usage;
  const cached = (usage.cachedReadTokens ?? 0) + (usage.cachedWriteTokens ?? 0);
  const thoughts = usage.thoughtTokens ?? 0;
  const readings = [
    { input: inputTokens, output: outputTokens },
    { input: inputTokens + cached, output: outputTokens },
    { input: inputTokens, output: outputTokens + thoughts },
    { input: inputTokens + cached, output: outputTokens + thoughts },
  ].filter(({ input, output }) => input + output === totalTokens);
  const [reading, ...others] = readings;
  if (reading === undefined || others.some(({ input }) => input !== reading.input)) return undefined;
  return {
    inputTokens: reading.input,
    outputTokens: reading.output,
    ...createField("thinkingTokens", usage.thoughtTokens),
    ...createField("cacheReadTokens", usage.cachedReadTokens),
    ...createField("cacheWriteTokens", usage.cachedWriteTokens),
  };
}

/** Creates a field of the usage; no field if the agent does not report the number. */
const createField = (name: keyof NormalizedUsage, tokens: number | null | undefined): Partial<NormalizedUsage> =>
  tokens === null || tokens === undefined ? {} : { [name]: tokens };
