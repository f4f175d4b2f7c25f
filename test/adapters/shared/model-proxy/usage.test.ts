import { randomBytes } from "node:crypto";
import { request as sendRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import type { WireProtocol } from "../../../../adapters/shared/model-proxy/proxy-plan.ts";
import { call, messageEvents, openBench } from "./proxy-bench.ts";

const sse = (...events: unknown[]): string =>
  events.map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`).join("");

/** Sends one call whose response has this body, and returns what the proxy reports. */
async function reportOf(
  protocol: WireProtocol,
  body: string | Buffer | readonly (string | Buffer)[],
  { headers = { "content-type": "text/event-stream" }, path = PATHS[protocol] }: { headers?: Record<string, string>; path?: string } = {},
) {
  const parts = Array.isArray(body) ? body : [body];
  const { local, reports } = await openBench(
    (_, response) => {
      response.writeHead(200, headers);
      for (const part of parts) response.write(part);
      response.end();
    },
    { protocol },
  );
  const answer = await call(local, path, { body: "{}" });
  expect(answer.body.equals(Buffer.concat(parts.map((part) => Buffer.from(part))))).toBe(true);
  return reports.map(({ call, model, usage, partial }) => ({ model, usage, incomplete: call?.incomplete, partial }));
}

const PATHS: Record<WireProtocol, string> = {
  anthropic: "/v1/messages?beta=true",
  openai: "/v1/responses",
  gemini: "/v1beta/models/m:streamGenerateContent?alt=sse",
};
const JSON_TYPE = { headers: { "content-type": "application/json" } };

describe("Anthropic Messages", () => {
  const usage = {
    input_tokens: 120,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 10,
    cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 6 },
    output_tokens: 30,
    output_tokens_details: { thinking_tokens: 5 },
    service_tier: "standard",
  };
  const expected = {
    model: "m",
    usage: { inputTokens: 150, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 10, cacheWrite1hTokens: 6 },
    incomplete: undefined,
    partial: undefined,
  };

  test("the counts of a stream are the largest of all events", async () => {
    const start = { type: "message_start", message: { model: "m", usage: { ...usage, output_tokens: 1, output_tokens_details: null } } };
    const delta = { type: "message_delta", usage };
    expect(await reportOf("anthropic", sse(start, delta, { type: "message_stop" }))).toEqual([expected]);
  });

  test("repeated counts are not added, and their order does not matter", async () => {
    const start = { type: "message_start", message: { model: "m", usage: { ...usage, output_tokens: 1 } } };
    const delta = { type: "message_delta", usage };
    const early = { type: "message_delta", usage: { output_tokens: 3 } };
    expect(await reportOf("anthropic", sse(delta, delta, early, start, delta, early, { type: "message_stop" }))).toEqual([expected]);
  });

  test("a response without events has the same counts", async () => {
    expect(await reportOf("anthropic", JSON.stringify({ type: "message", model: "m", usage }), JSON_TYPE)).toEqual([expected]);
  });

  test("token counting and errors report nothing", async () => {
    expect(await reportOf("anthropic", '{"input_tokens":130}', { ...JSON_TYPE, path: "/v1/messages/count_tokens" })).toEqual([]);
  });

  test("a stream without an end is incomplete", async () => {
    const start = { type: "message_start", message: { model: "m", usage } };
    expect(await reportOf("anthropic", sse(start, { type: "error", error: { type: "overloaded_error" } }))).toMatchObject([
      { incomplete: true },
    ]);
  });

  test("a text that looks like a usage does not count", async () => {
    const text = { type: "content_block_delta", delta: { type: "text_delta", text: '{"usage":{"output_tokens":9999}} message_stop' } };
    const events = sse(
      { type: "message_start", message: { model: "m", usage } },
      text,
      { type: "message_delta", usage },
      { type: "message_stop" },
    );
    expect(await reportOf("anthropic", events)).toEqual([expected]);
  });

  test("malformed counts are ignored", async () => {
    const bad = { input_tokens: -5, output_tokens: "many", cache_read_input_tokens: null, x: [1] };
    expect(await reportOf("anthropic", JSON.stringify({ type: "message", usage: bad }), JSON_TYPE)).toEqual([
      { model: undefined, usage: { inputTokens: 0, outputTokens: 0 }, incomplete: true, partial: true },
    ]);
  });
});

describe("OpenAI", () => {
  const usage = {
    input_tokens: 130,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 160,
  };
  const expected = {
    model: "m",
    usage: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 },
    incomplete: undefined,
    partial: undefined,
  };

  test.each(["completed", "incomplete", "failed"])("response.%s has the counts of a stream", async (end) => {
    const events = sse(
      { type: "response.created", response: { model: "m", usage: null } },
      { type: `response.${end}`, response: { model: "m", usage } },
    );
    expect(await reportOf("openai", events)).toEqual([expected]);
  });

  test("a response without events, and a compaction, have the same counts", async () => {
    const body = JSON.stringify({ object: "response", model: "m", usage });
    expect(await reportOf("openai", body, JSON_TYPE)).toEqual([expected]);
    expect(await reportOf("openai", body, { ...JSON_TYPE, path: "/v1/responses/compact" })).toEqual([expected]);
  });

  const chat = {
    prompt_tokens: 130,
    prompt_tokens_details: { cached_tokens: 20 },
    completion_tokens: 30,
    completion_tokens_details: { reasoning_tokens: 5 },
  };
  const path = "/v1/chat/completions";

  test("the last chunk of a chat completion has the counts, with or without [DONE]", async () => {
    const chunks = [
      { object: "chat.completion.chunk", model: "m", usage: null, choices: [{}] },
      { object: "chat.completion.chunk", model: "m", choices: [], usage: chat },
    ];
    expect(await reportOf("openai", sse(...chunks, "[DONE]"), { path })).toEqual([expected]);
    expect(await reportOf("openai", sse(...chunks), { path })).toEqual([expected]);
  });

  test("thinking that only the total contains is output", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 150, completion_tokens_details: { reasoning_tokens: 40 } };
    expect(await reportOf("openai", JSON.stringify({ model: "m", usage }), { ...JSON_TYPE, path })).toMatchObject([
      { usage: { inputTokens: 100, outputTokens: 50, thinkingTokens: 40 } },
    ]);
  });

  test("a stream without counts is incomplete, because the client did not ask for them", async () => {
    const body = sse({ object: "chat.completion.chunk", model: "m", choices: [{}] }, "[DONE]");
    expect(await reportOf("openai", body, { path })).toMatchObject([
      { usage: { inputTokens: 0, outputTokens: 0 }, incomplete: true, partial: true },
    ]);
  });
});

describe("Gemini", () => {
  const usageMetadata = {
    promptTokenCount: 130,
    cachedContentTokenCount: 20,
    candidatesTokenCount: 30,
    thoughtsTokenCount: 5,
    totalTokenCount: 165,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 130 }],
  };
  const end = { candidates: [{ finishReason: "STOP" }], modelVersion: "m", usageMetadata };
  const start = { candidates: [{}], modelVersion: "m", usageMetadata: { promptTokenCount: 130, candidatesTokenCount: 3 } };
  const expected = {
    model: "m",
    usage: { inputTokens: 130, outputTokens: 35, thinkingTokens: 5, cacheReadTokens: 20 },
    incomplete: undefined,
    partial: undefined,
  };

  test("the last counts of a stream of events, of a stream of JSON and of one response are the same", async () => {
    expect(await reportOf("gemini", sse(start, end))).toEqual([expected]);
    expect(
      await reportOf("gemini", JSON.stringify([start, end]), { ...JSON_TYPE, path: "/v1beta/models/m:streamGenerateContent" }),
    ).toEqual([expected]);
    expect(await reportOf("gemini", JSON.stringify(end), { ...JSON_TYPE, path: "/v1beta/models/m:generateContent" })).toEqual([expected]);
  });

  test("token counting reports nothing", async () => {
    expect(await reportOf("gemini", '{"totalTokens":130}', { ...JSON_TYPE, path: "/v1beta/models/m:countTokens" })).toEqual([]);
  });
});

describe("encodings and sizes", () => {
  const events = messageEvents({ text: randomBytes(200_000).toString("base64") }).join("");
  const expected = [
    {
      model: "claude-sonnet-4-5",
      usage: { inputTokens: 140, outputTokens: 30, cacheReadTokens: 20 },
      incomplete: undefined,
      partial: undefined,
    },
  ];

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["identity", Buffer.from],
  ] as const)("a response in %s is counted, and arrives as it was sent", async (encoding, encode) => {
    const headers = { "content-type": "text/event-stream; charset=utf-8", "content-encoding": encoding };
    expect(await reportOf("anthropic", (encode as (text: string) => Buffer)(events), { headers })).toEqual(expected);
  });

  test.each(["gzip", "br", "zstd", "unknown", "gzip, br"])(
    "damaged data in %s arrives as it was sent, and the count is unknown",
    async (encoding) => {
      const headers = { "content-type": "text/event-stream", "content-encoding": encoding };
      expect(await reportOf("anthropic", "this is not encoded", { headers })).toMatchObject([
        { usage: { inputTokens: 0, outputTokens: 0 }, incomplete: true },
      ]);
    },
  );

  test("a compressed response that breaks off is counted so far", async () => {
    const headers = { "content-type": "text/event-stream", "content-encoding": "gzip" };
    const half = gzipSync(events).subarray(0, -2_000);
    expect(await reportOf("anthropic", half, { headers })).toMatchObject([
      { model: "claude-sonnet-4-5", usage: { inputTokens: 140 }, incomplete: true },
    ]);
  });

  test("events that are split at any byte, with any line ends, are counted", async () => {
    for (const lineEnd of ["\n", "\r\n", "\r"]) {
      const bytes = [...messageEvents({ text: "ü – 漢" }).join("").replaceAll("\n", lineEnd)].map((character) => Buffer.from(character));
      expect(await reportOf("anthropic", bytes)).toEqual(expected);
    }
  });

  test("an event of 20 MiB is skipped, and the following ones are counted", async () => {
    const large = `data: {"type":"x","text":"${"x".repeat(20 * 1024 ** 2)}"}\n\n`;
    expect(await reportOf("anthropic", large + events)).toEqual(expected);
  });

  test("an expanding response arrives as it was sent, and the count is unknown", async () => {
    const bomb = gzipSync(Buffer.alloc(300 * 1024 ** 2, 120));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect(await reportOf("anthropic", bomb, { headers })).toMatchObject([{ incomplete: true }]);
  });
});

describe("a response that breaks off", () => {
  const start = { type: "message_start", message: { model: "m", usage: { input_tokens: 120, output_tokens: 1 } } };

  /** Sends a call with this body, whose response has only these events, and returns what the call can have used at most. */
  async function atMostOf(protocol: WireProtocol, body: string | readonly string[], events = "", path = PATHS[protocol]) {
    const { local, reports } = await openBench(
      async (request, response) => {
        await buffer(request);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(events, () => response.socket?.destroy());
      },
      { protocol },
    );
    const request = sendRequest(`${local.baseUrl}${path}`, { method: "POST", headers: { "x-api-key": local.key }, agent: false });
    request.on("error", () => {});
    request.on("response", (message) => message.on("error", () => {}).resume());
    for (const part of typeof body === "string" ? [body] : body) await new Promise((sent) => request.write(part, sent));
    request.end();
    await vi.waitFor(() => expect(reports).toHaveLength(1));
    return reports[0]?.atMost;
  }

  test.each<[WireProtocol, string, string]>([
    ["anthropic", '{"messages":[],"max_tokens":32000}', PATHS.anthropic],
    ["openai", '{"input":[],"max_output_tokens": 32000}', PATHS.openai],
    ["openai", '{"max_completion_tokens":32000,"messages":[]}', "/v1/chat/completions"],
    ["gemini", '{"generationConfig":{"maxOutputTokens":32000},"contents":[]}', PATHS.gemini],
  ])("a broken call can have used what the request of %s permits, and a token for each byte of it: %s", async (protocol, body, path) => {
    expect(await atMostOf(protocol, body, "", path)).toEqual({ inputTokens: body.length, outputTokens: 32_000 });
  });

  test.each<[WireProtocol, number]>([
    ["openai", 128_000],
    ["gemini", 65_536],
  ])("a broken call can have used the largest answer of a model if the request of %s names no limit", async (protocol, outputTokens) => {
    expect(await atMostOf(protocol, "{}")).toEqual({ inputTokens: 2, outputTokens });
  });

  test("a broken call has used the input that it has reported", async () => {
    expect(await atMostOf("anthropic", '{"max_tokens":500}', sse(start))).toEqual({ inputTokens: 120, outputTokens: 500 });
    const early = { type: "message_delta", usage: { output_tokens: 700 } };
    expect(await atMostOf("anthropic", '{"max_tokens":500}', sse(start, early))).toEqual({ inputTokens: 120, outputTokens: 700 });
  });

  test("the proxy finds the limit between two parts of a request, after a megabyte", async () => {
    const long = `{"messages":[{"content":"${"ü".repeat(500_000)}"}],"max_`;
    expect(await atMostOf("anthropic", [long, 'tokens":4', "2,", '"stream":true}'], sse(start))).toMatchObject({ outputTokens: 42 });
  });

  test("the proxy finds no limit in the text of a message, and the largest one if the input of a tool has one, too", async () => {
    const text = JSON.stringify({ max_tokens: 500, messages: [{ content: '{"max_tokens":7000}' }] });
    expect(await atMostOf("anthropic", text, sse(start))).toMatchObject({ outputTokens: 500 });
    const tool = JSON.stringify({ messages: [{ content: [{ type: "tool_use", input: { max_tokens: 5 } }] }], max_tokens: 900 });
    expect(await atMostOf("anthropic", tool, sse(start))).toMatchObject({ outputTokens: 900 });
  });

  test("a whole response has no largest usage, although its client asked for no counts", async () => {
    const chunk = { object: "chat.completion.chunk", model: "m", choices: [{}] };
    expect(await atMostOf("openai", '{"max_tokens":9}', sse(chunk, "[DONE]"), "/v1/chat/completions")).toBeUndefined();
  });
});
