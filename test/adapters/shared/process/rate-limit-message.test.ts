import { describe, expect, test } from "vitest";
import { explainFailure as explainCodex } from "../../../../adapters/codex/failures.ts";
import { explainFailure as explainGemini } from "../../../../adapters/gemini/failures.ts";
import { explainError as explainOpenCode, explainRetries } from "../../../../adapters/opencode/failures.ts";
import { explainMessage } from "../../../../adapters/shared/acp/acp-failure.ts";
import { readOutcome, resultSchema } from "../../../../adapters/shared/claude-code/result-line.ts";
import { explainError as explainModel } from "../../../../adapters/shared/model-api/model-failure.ts";
import { isLimitNotice, isRateLimitMessage } from "../../../../adapters/shared/process/rate-limit-message.ts";

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

test.each([
  "You've hit your limit · resets 3pm (Europe/Zurich)",
  "You've hit your session limit · resets 8:30pm (Asia/Tokyo)",
  "You've hit your weekly limit · resets Apr 23 at 4pm (America/Recife)\n",
  "You've hit your session limit · resets 5:40pm (Europe/Berlin)\n/login to switch to an API usage-billed account.",
  "5-hour limit reached ∙ resets 3pm",
  "Weekly limit reached ∙ resets Mar 12, 10pm (Asia/Kolkata)",
  "Claude AI usage limit reached|1764370800",
  "Claude usage limit reached. Your limit will reset at 5pm (Europe/Warsaw).",
  "You've hit your monthly spend limit.",
  "You’ve hit your usage limit. Upgrade to Pro (https://vendor.example/pro) or try again at Nov 30th, 2026 12:19 AM.",
  "You've hit your usage limit. To get more access now, send a request to your admin or try again at 12:16 PM.",
  "⚠️ API rate limit reached. Please try again later.",
])("an answer is a notice of a limit: %s", (answer) => expect(isLimitNotice(answer)).toBe(true));

test.each([
  "The rate limit of the API is 60 requests per minute.",
  "Claude Code prints: You've hit your limit · resets 3pm (UTC)",
  "You've hit your limit · resets 3pm (UTC)\nThis is the message that you asked for.",
  "You've hit your usage limit of 5 files.",
  "When the usage limit is reached, try again at 3pm.",
  "The message is “5-hour limit reached ∙ resets 3pm”.",
  "429 Too Many Requests",
  `You've hit your usage limit. ${"x ".repeat(400)} try again at 3pm.`,
])("an answer that mentions a limit is not a notice: %s", (answer) => expect(isLimitNotice(answer)).toBe(false));
