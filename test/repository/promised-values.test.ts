import { FIX_INSTRUCTION } from "@hak2i/responder-bridge";
import { createOpenAiProvider } from "@hak2i/responder-bridge-openai";
import { crossRounds, estimateTimeoutSeconds } from "bridge-council";
import { expect, test, vi } from "vitest";
import { createOpenCodeAdapter } from "../../adapters/opencode/index.ts";
import { MAX_DOMAINS } from "../../packages/council/src/input.ts";
import { MAX_DEBATE_ROUNDS } from "../../packages/council/src/panel/panel.ts";
import { CONTEXT_LIMIT_CHARACTERS } from "../../packages/council/src/prompts/packet.ts";
import { isPaced } from "../../src/contract/adapter.ts";

/** Numbers and words that users were promised. They are literals here, so that no change of a constant passes unnoticed. */
test.each<[string, unknown, unknown]>([
  ["characters of earlier findings in a prompt", CONTEXT_LIMIT_CHARACTERS, 32_000],
  ["experts of a council", MAX_DOMAINS, 26],
  ["debate rounds of a panel", MAX_DEBATE_ROUNDS, { quick: 0, standard: 1, thorough: 3 }],
  ["debate rounds over several runtimes", crossRounds, { quick: 0, standard: 2, thorough: 3 }],
  ["seconds for fewer than 5 files", estimateTimeoutSeconds({ files: 4 }, "standard"), 60],
  ["seconds for 20 files", estimateTimeoutSeconds({ files: 20 }, "standard"), 180],
  ["seconds for 49 files", estimateTimeoutSeconds({ files: 49 }, "standard"), 300],
  ["seconds for 50 files", estimateTimeoutSeconds({ files: 50 }, "standard"), 600],
  ["factor of quick", estimateTimeoutSeconds({ files: 50 }, "quick"), 300],
  ["factor of thorough", estimateTimeoutSeconds({ files: 50 }, "thorough"), 900],
  ["factor of OpenCode", timeoutMultiplierOf(createOpenCodeAdapter()), 1.5],
  ["instruction of a fix prompt", FIX_INSTRUCTION, "Fix to pass validator. Do not reduce enumeration."],
])("the %s are as promised", (_, value, promised) => {
  expect(value).toEqual(promised);
});

test.each([{}, { baseUrl: "https://api.openai.com/v1" }])(
  "the default URL of the OpenAI provider is https://api.openai.com/v1: %j",
  (options) => {
    // Only the default URL requires a key.
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    vi.stubEnv("OPENAI_API_KEY", undefined);
    expect(() => createOpenAiProvider(options)).toThrow("No API key: set OPENAI_API_KEY.");
  },
);

function timeoutMultiplierOf(adapter: unknown): number | undefined {
  return isPaced(adapter) ? adapter.timeoutMultiplier : undefined;
}
