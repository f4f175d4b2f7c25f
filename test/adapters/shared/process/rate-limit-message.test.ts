import { describe, expect, test } from "vitest";
import { explainFailure as explainCodex } from "../../../../adapters/codex/failures.ts";
import { explainFailure as explainGemini } from "../../../../adapters/gemini/failures.ts";
import { explainError as explainOpenCode, explainRetries } from "../../../../adapters/opencode/failures.ts";
import { explainMessage } from "../../../../adapters/shared/acp/acp-failure.ts";
import { readOutcome, resultSchema } from "../../../../adapters/shared/claude-code/result-line.ts";
import { explainError as explainModel } from "../../../../adapters/shared/model-api/model-failure.ts";
import { isRateLimitMessage } from "../../../../adapters/shared/process/rate-limit-message.ts";

/** The message as each runtime reports it. */
const runtimes: [string, (message: string) => unknown][] = [
  ["an ACP agent", (message) => explainMessage(message, "prompt")],
  ["Claude Code", (result) => readOutcome(resultSchema.parse({ type: "result", subtype: "success", is_error: true, result }), "HOME")],
  ["Codex", explainCodex],
  ["Gemini CLI", (message) => explainGemini(1, { message }, "")],
  ["OpenCode", (message) => explainOpenCode({ name: "APIError", data: { message } })],
  ["OpenCode after retries", (message) => explainRetries(4, message)],
  ["a model endpoint in a stream", (message) => explainModel({ message }, { baseUrl: "http://127.0.0.1", secrets: [] })],
];

describe.each([
  "You've hit your usage limit. Resets 3pm",
  "You've hit your limit · resets 3pm (UTC)",
  "Claude AI usage limit reached|1764370800",
  "5-hour limit reached ∙ resets 3pm",
  "You've reached your weekly limit.",
  "You're out of extra usage · resets 5pm",
  "You have exhausted your capacity on this model. Your quota will reset after 2h.",
  "Too Many Requests",
])("%s", (message) => {
  test.each(runtimes)("a message is rate_limited from %s", (_, explain) => {
    expect(explain(message)).toMatchObject({ status: "error", errorCode: "rate_limited" });
  });
});

test.each([
  "The prompt exceeds the context limit.",
  "The output token limit was reached.",
  "Turn limit reached.",
  "The size limit is 5 MB.",
])("another limit is not a rate limit: %s", (message) => expect(isRateLimitMessage(message)).toBe(false));
