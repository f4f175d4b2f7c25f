import type { NormalizedUsage } from "#contract";
import type { CellBench } from "./cell-bench.ts";

/**
 * The usage of the last task, which has this many calls of the scripted model, as each source counts it; undefined if the source reports no
 * total. The proxy also counts the calls that a program makes by itself.
 */
export function usageOfCalls(bench: CellBench, calls: number): NormalizedUsage | undefined {
  if (bench.hasProxy) return sumAnswers(bench);
  const one = usageOfOneCall(bench);
  return one && (Object.fromEntries(Object.entries(one).map(([name, tokens]) => [name, calls * (tokens as number)])) as NormalizedUsage);
}

function usageOfOneCall({ runtime, connection }: CellBench): NormalizedUsage | undefined {
  const plain = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };
  switch (`${runtime}/${connection}`) {
    case "claude/acp":
      return { inputTokens: 150, outputTokens: 30, cacheReadTokens: 20, cacheWriteTokens: 10 };
    case "claude/cli":
    case "claude-agent-sdk/in-process":
      return { inputTokens: 150, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 10 };
    case "gemini/acp":
      return { inputTokens: 130, outputTokens: 30 };
    case "gemini/cli":
      return { inputTokens: 130, outputTokens: 35, thinkingTokens: 5, cacheReadTokens: 20 };
    case "opencode/http-api":
    case "opencode/cli":
      return { ...plain, cacheWriteTokens: 0 };
    default:
      return plain;
  }
}

/** Adds up all answers of the model since the last dispatch, as their protocol counts them. */
function sumAnswers({ runtime, model, answersBefore }: CellBench): NormalizedUsage {
  const sum = { prompt: 0, cached: 0, answer: 0, thinking: 0 };
  for (const usage of model.usages.slice(answersBefore))
    for (const name of ["prompt", "cached", "answer", "thinking"] as const) sum[name] += usage[name];
  const { prompt, cached, answer, thinking } = sum;
  const usage = { inputTokens: prompt, outputTokens: answer, thinkingTokens: thinking, cacheReadTokens: cached };
  if (runtime === "gemini") return { ...usage, outputTokens: answer + thinking };
  if (!runtime.startsWith("claude")) return usage;
  // The protocol counts read and written tokens in addition to the others.
  const written = cached / 2;
  return { ...usage, inputTokens: prompt + cached, cacheWriteTokens: written };
}
