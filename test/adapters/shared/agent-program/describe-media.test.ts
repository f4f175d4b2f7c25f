import { expect, test } from "vitest";
import { parseExactJson } from "#contract";
import { describeMedia } from "../../../../adapters/shared/agent-program/describe-media.ts";

const bytes = Buffer.alloc(300_001, 7);
const data = bytes.toString("base64");
const url = `data:image/png;base64,${data}`;
const described = { type: "image", mimeType: "image/png", bytes: bytes.length };

test.each<[string, unknown, unknown]>([
  [
    "MCP",
    [
      { type: "text", text: "See:" },
      { type: "image", data, mimeType: "image/png" },
    ],
    [{ type: "text", text: "See:" }, described],
  ],
  ["ACP", [{ type: "content", content: { type: "image", data, mimeType: "image/png" } }], [{ type: "content", content: described }]],
  ["Anthropic", [{ type: "image", source: { type: "base64", media_type: "image/png", data } }], [described]],
  ["Gemini", { parts: [{ inlineData: { mimeType: "image/png", data } }] }, { parts: [described] }],
  ["OpenAI", [{ type: "input_image", image_url: url }], [described]],
  ["OpenAI chat", [{ type: "image_url", image_url: { url } }], [described]],
  ["OpenCode", { output: "Read.", attachments: [{ type: "file", mime: "image/png", url }] }, { output: "Read.", attachments: [described] }],
  ["audio of MCP", [{ type: "audio", data, mimeType: "audio/wav" }], [{ type: "audio", mimeType: "audio/wav", bytes: bytes.length }]],
  [
    "an embedded file of MCP",
    [{ type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: data } }],
    [{ type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", bytes: bytes.length } }],
  ],
])("media in the form of %s become its type and size", (_, output, expected) => {
  expect(describeMedia(output)).toEqual(expected);
});

test.each<[string, unknown]>([
  ["text", "data:image/png;base64,AAAA"],
  ["null", null],
  ["an image by its address", { type: "image_url", image_url: { url: "https://example.com/a.png" } }],
  ["other data", { type: "resource", data: "AAAA", mimeType: "application/pdf" }],
  ["fields with other types", { type: "image", data: 5, mimeType: "image/png", source: null, image_url: null }],
])("%s stays", (_, output) => {
  expect(describeMedia(output)).toEqual(output);
});

test("numbers keep all digits next to media", () => {
  const output = parseExactJson(`{"order":653247040368672769,"page":{"type":"image","data":"AAAA","mimeType":"image/png"}}`);
  expect(JSON.stringify(describeMedia(output))).toBe(
    '{"order":653247040368672769,"page":{"type":"image","mimeType":"image/png","bytes":3}}',
  );
});
