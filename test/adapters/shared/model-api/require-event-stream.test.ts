import { expect, test } from "vitest";
import { openEndpoint } from "./raw-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

const apiKey = "sk-test-0123456789abcdef";

/** Runs a task on an endpoint that answers every request with status 200 and this body. */
async function runWith(type: string | undefined, body: string) {
  const { url } = await openEndpoint(
    ({ response }) => void response.writeHead(200, type === undefined ? {} : { "content-type": type }).end(body),
  );
  const fixture = await openVercelFixture({ baseUrl: url, apiKey });
  return (await fixture.run({})).result;
}

test.each<[string, string | undefined, string, string, RegExp]>([
  [
    "a JSON error with a status",
    "application/json",
    '{"error":{"message":"Insufficient credits","code":402}}',
    "user_action_required",
    /HTTP 200 with an error instead of a stream: Insufficient credits\. Check the plan/,
  ],
  [
    "a JSON error about credit, as an event stream",
    "text/event-stream",
    '{"error":{"message":"Insufficient credits"}}',
    "user_action_required",
    /Insufficient credits/,
  ],
  ["a JSON error with a status as text", "application/json", '{"error":{"message":"Later","code":"429"}}', "rate_limited", /Later/],
  ["a JSON error without a status", "application/json", '{"error":"Rate limit exceeded"}', "rate_limited", /Rate limit exceeded/],
  ["a JSON error with a key", "application/json", `{"error":"no ${apiKey}"}`, "model_error", /no \[redacted\]/],
  [
    "an event with an error",
    "text/event-stream",
    'data: {"error":{"message":"Insufficient credits","code":402}}\n\n',
    "user_action_required",
    /credits/,
  ],
  [
    "a page",
    "text/html",
    "<html>\n <p>Blocked by gateway</p></html>",
    "model_error",
    /content type: text\/html; content: <html> <p>Blocked by gateway/,
  ],
  ["plain text", "text/plain", "Blocked by gateway", "model_error", /content type: text\/plain; content: Blocked by gateway/],
  ["nothing", undefined, "", "model_error", /content type: none; no content/],
  ["an empty stream", "text/event-stream", "\n\n", "model_error", /content type: text\/event-stream; no content/],
])("the error of a task names an answer that is %s", async (_, type, body, errorCode, error) => {
  const result = await runWith(type, body);
  expect(result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(error) });
  expect(JSON.stringify(result)).not.toContain(apiKey);
});

test("a complete chat completion is accepted instead of a stream", async () => {
  const body = {
    id: "c1",
    created: 1,
    model: "raw",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "All of it." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
  const expected = { status: "ok", output: "All of it.", usage: { inputTokens: 3, outputTokens: 2 } };
  expect(await runWith("application/json", JSON.stringify(body))).toMatchObject(expected);
});

test.each(["text/plain", "application/json"])("an event stream is accepted with the content type %s", async (type) => {
  const chunk = { id: "c1", created: 1, model: "raw", choices: [{ index: 0, delta: { content: "Streamed." }, finish_reason: "stop" }] };
  const body = `\n\n: wait\n\ndata: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  expect(await runWith(type, body)).toMatchObject({ status: "ok", output: "Streamed." });
});
