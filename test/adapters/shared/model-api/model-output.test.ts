import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { McpServerSpec } from "#contract";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { openEndpoint } from "./raw-endpoint.ts";
import { openToolEndpoint, receivedResults } from "./tool-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

const script = path.join(import.meta.dirname, "../../../fixtures/programs/wild-mcp-server.js");
const mcpServers: McpServerSpec[] = [{ name: "wild", transport: "stdio", command: process.execPath, args: [script, "plain"] }];
const data = Buffer.alloc(225_000, 7).toString("base64");
const imageNote = "[image of 225000 bytes (image/png); it cannot be shown to the model]";
const otherNotes = [
  "[audio of 225000 bytes (audio/wav); it cannot be shown to the model]",
  '{"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","bytes":225000}}',
  '{"type":"resource_link","uri":"file:///b.txt","name":"b.txt"}',
];

/** Runs a task whose tool returns media, resumes it, and expects no base64 in events and in stored conversations. */
async function runAndResume(settings: Record<string, unknown>): Promise<void> {
  const filesDir = await temporaryDirectory();
  const fixture = await openVercelFixture(settings, { filesDir });
  const first = await fixture.run({ mcpServers });
  expect(first.result).toMatchObject({ status: "ok", output: "Done." });
  const { resumeToken } = first.result;
  const resumed = await fixture.run({ message: "And now?", ...(resumeToken !== undefined && { resumeToken }) });
  expect(resumed.result).toMatchObject({ status: "ok", output: "Done." });
  const completed = first.events.find(({ type }) => type === "tool.completed");
  expect(completed?.data).toMatchObject({
    output: {
      content: [
        { type: "text", text: "See:" },
        { type: "image", mimeType: "image/png", bytes: 225_000 },
        { type: "audio", mimeType: "audio/wav", bytes: 225_000 },
        { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", bytes: 225_000 } },
        { type: "resource_link", uri: "file:///b.txt", name: "b.txt" },
      ],
    },
  });
  expect(JSON.stringify([first, resumed])).not.toContain(data.slice(0, 100));
  const directory = path.join(filesDir, "conversations");
  const stored = await Promise.all((await readdir(directory)).map((name) => readFile(path.join(directory, name), "utf8")));
  expect(stored).toHaveLength(1);
  expect(stored[0]).toContain(imageNote);
  expect(stored[0]).not.toContain(data.slice(0, 100));
}

test("media of MCP tools become notes for an endpoint that accepts only text in the results of tools", async () => {
  const { url, requests } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__draw" }]);
  await runAndResume({ baseUrl: url });
  expect(requests).toHaveLength(3);
  const expected = ["See:", imageNote, ...otherNotes].join("\n");
  for (const request of requests.slice(1)) expect(receivedResults(request)["c1"]).toBe(expected);
});

test("images of MCP tools reach a model whose OpenAI-compatible endpoint accepts them, until the task ends", async () => {
  const { url, requests } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__draw" }]);
  await runAndResume({ baseUrl: url, toolImages: true });
  const text = (value: string) => ({ type: "text", text: value });
  expect(receivedResults(requests[1] as never)["c1"]).toEqual([
    text("See:"),
    { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
    ...otherNotes.map(text),
  ]);
  expect(receivedResults(requests[2] as never)["c1"]).toBe(["See:", imageNote, ...otherNotes].join("\n"));
});

test("images of MCP tools reach a model behind an Anthropic endpoint, until the task ends", async () => {
  let asked = 0;
  const { url, requests } = await openEndpoint(({ response }) => {
    asked += 1;
    const isCall = asked === 1;
    const block = isCall ? { type: "tool_use", id: "c1", name: "mcp__wild__draw", input: {} } : { type: "text", text: "" };
    const delta = isCall ? { type: "input_json_delta", partial_json: "{}" } : { type: "text_delta", text: "Done." };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const events = [
      { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "raw", content: [], usage } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: isCall ? "tool_use" : "end_turn" }, usage },
      { type: "message_stop" },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  });
  await runAndResume({ baseUrl: url, protocol: "anthropic" });
  const resultsOf = (index: number) =>
    ((requests[index]?.body["messages"] ?? []) as { content: { type: string; content?: unknown }[] }[])
      .flatMap(({ content }) => content)
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => content);
  const text = (value: string) => ({ type: "text", text: value });
  const source = { type: "base64", media_type: "image/png", data };
  expect(resultsOf(1)).toEqual([[text("See:"), { type: "image", source }, ...otherNotes.map(text)]]);
  expect(JSON.stringify(resultsOf(2))).toContain("image of 225000 bytes");
  expect(JSON.stringify(requests[2]?.body)).not.toContain(data.slice(0, 100));
});
