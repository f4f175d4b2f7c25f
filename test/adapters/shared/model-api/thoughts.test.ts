import { expect, test } from "vitest";
import { beginStream, openEndpoint, sendChunk } from "./raw-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

/** Runs and resumes a task whose model streams this text in pieces of this length. */
async function answerWith(text: string, length: number) {
  const { url, requests } = await openEndpoint(({ response }) => {
    beginStream(response);
    for (let at = 0; at < text.length; at += length) sendChunk(response, { content: text.slice(at, at + length) });
    sendChunk(response, {}, "stop");
    response.end("data: [DONE]\n\n");
  });
  const fixture = await openVercelFixture({ baseUrl: url });
  const first = await fixture.run({});
  const { resumeToken = "" } = first.result;
  await fixture.run({ message: "And now?", resumeToken });
  const messages = (requests[1]?.body["messages"] ?? []) as { role: string; content: unknown }[];
  return { first, sent: messages.find(({ role }) => role === "assistant")?.content };
}

const code = "Models write it so:\n\n```\n<think>\nplan\n</think>\n```\n\nThen they answer.";
const lengths = [1, 3, 1000];

test.each<[string, string, string]>([
  ["thoughts", "<think>\nsecret plan more\n</think>\n\nHello", "Hello"],
  ["thoughts after blanks", "\n <think>secret</think>Hello", "Hello"],
  ["thoughts without the opening tag", "secret plan more\n</think>\n\nHello", "Hello"],
  ["code with the tags", code, code],
  ["a sentence with a tag", "The tag </think> ends it.\n</think>", "The tag </think> ends it.\n</think>"],
  ["thoughts before code with the tags", `<think>secret</think>\n${code}`, code],
  ["a beginning that is no tag", "<thi", "<thi"],
])("an answer with %s is only the answer, also in the next turn", async (_, text, answer) => {
  for (const length of lengths) {
    const { first, sent } = await answerWith(text, length);
    expect(first.result).toMatchObject({ status: "ok", output: answer });
    expect(sent).toBe(answer);
    if (text.includes("<think>secret")) expect(JSON.stringify(first.events)).not.toContain("secret");
  }
});
