import type { NormalizedUsage } from "#contract";
import type { CellBench } from "./cell-bench.ts";

/** The usage of a task with this many calls of the scripted model, as each source counts it; undefined if the source reports no total. */
export function usageOfCalls(bench: CellBench, calls: number): NormalizedUsage | undefined {
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
