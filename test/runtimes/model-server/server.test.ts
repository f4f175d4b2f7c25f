import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Step } from "./scenarios.ts";
import { createModelServer, type ModelServer } from "./server.ts";
import { ask, post, readFrames, wireClients } from "./wire-clients.ts";

const unicode = 'Grüße 世界 👩‍🚀 \u202eabc\u202c "quoted" \\ \u2028 line\n'.repeat(20);

let server: ModelServer;
beforeEach(async () => {
  server = await createModelServer({ messagePrefix: "The task:\n\n" });
});
afterEach(async () => {
  await server.close();
});

describe.each(Object.values(wireClients))("$protocol", (client) => {
  test("a text is sent whole or in deltas, with the usage of one call", async () => {
    const marker = server.scenario([{ text: unicode, chunks: 7 }]);
    const conversation = { turns: [{ user: `Hello ${marker}` }] };
    const streamed = await ask(server.url, client, conversation);
    expect(streamed.deltas).toHaveLength(7);
    expect(streamed.deltas.join("")).toBe(unicode);
    expect(streamed.usage).toEqual(client.usage);
    const whole = await ask(server.url, client, conversation, false);
    expect(whole.deltas.join("")).toBe(unicode);
    expect(whole.usage).toEqual(client.usage);
  });

  test("a text of 1 MB is not split within a character", async () => {
    const megabyte = "👋🏽 é ".repeat(150_000);
    const marker = server.scenario([{ text: megabyte }]);
    const { deltas } = await ask(server.url, client, { turns: [{ user: marker }] });
    expect(deltas.length).toBeGreaterThan(100);
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
    expect(deltas.join("")).toBe(megabyte);
  });

  test("the steps follow the turns since the marker", async () => {
    const marker = server.scenario([
      {
        say: "First.",
        tools: [
          { kind: "raw", name: "look", input: { a: 1 } },
          { kind: "raw", name: "look", input: { b: "ü" } },
        ],
      },
      { tools: [{ kind: "raw", name: "look", input: {} }] },
      { text: "Done." },
    ]);
    const start = [{ user: "Before." }, { assistant: "Yes." }, { user: `Go ${marker}` }];
    const answers = await Promise.all(
      [[], [{ call: "look" }], [{ call: "look" }, { call: "look" }], [{ call: "look" }, { call: "look" }, { assistant: "Done." }]].map(
        (rest) => ask(server.url, client, { turns: [...start, ...rest], tools: ["look"] }),
      ),
    );
    expect(answers.map(({ deltas, calls }) => ({ text: deltas.join(""), calls }))).toEqual([
      {
        text: "First.",
        calls: [
          { name: "look", input: { a: 1 } },
          { name: "look", input: { b: "ü" } },
        ],
      },
      { text: "", calls: [{ name: "look", input: {} }] },
      { text: "Done.", calls: [] },
      { text: "No step left of scenario s1.", calls: [] },
    ]);
    const whole = await ask(server.url, client, { turns: start }, false);
    expect(whole.calls).toEqual(answers[0]?.calls);
  });

  test("the input of a call may contain text of the request", async () => {
    const tools = (pattern: string) =>
      [{ kind: "raw", name: "look", input: { id: `found: ${pattern}`, as: "found" } }] satisfies Extract<Step, { tools: unknown }>["tools"];
    const marker = server.scenario([{ tools: tools("tool-[0-9]+") }, { tools: tools("never [a-z]+ there") }]);
    const first = { user: `There are tool-7 and tool-12. ${marker}` };
    const { calls } = await ask(server.url, client, { turns: [first] });
    expect(calls).toEqual([{ name: "look", input: { id: "tool-12", as: "found" } }]);
    const { calls: none } = await ask(server.url, client, { turns: [first, { call: "look" }] });
    expect(none).toEqual([{ name: "look", input: { id: "nothing was found", as: "found" } }]);
  });

  test("a marker in the system prompt counts from the last message", async () => {
    const system = `Rules. ${server.scenario([{ tools: [{ kind: "raw", name: "look", input: {} }] }, { text: "Done." }])}`;
    const turns = [{ user: "One." }, { call: "look" }, { assistant: "Done." }, { user: "Two." }];
    expect((await ask(server.url, client, { system, turns })).calls).toHaveLength(1);
    expect((await ask(server.url, client, { system, turns: [...turns, { call: "look" }] })).deltas.join("")).toBe("Done.");
    const other = server.scenario([{ text: "By the message." }]);
    expect((await ask(server.url, client, { system, turns: [{ user: other }] })).deltas.join("")).toBe("By the message.");
  });

  test("echo and recall return the messages without the adapter's prefix", async () => {
    const echo = `${server.scenario([{ echo: true }])}\n  @file /help "x" 👋🏽`;
    const recall = server.scenario([{ recall: true }]);
    const first = [{ user: `The task:\n\n${echo}` }];
    expect((await ask(server.url, client, { turns: first })).deltas.join("")).toBe(echo);
    const second = [...first, { assistant: echo }, { user: `The task:\n\n${recall}` }];
    expect((await ask(server.url, client, { turns: second })).deltas.join("")).toBe(echo);
  });

  test("cases select an answer by earlier messages, and the first match applies", async () => {
    const step = {
      cases: [
        { when: "I am Ann.", text: "For Ann." },
        { when: "", text: "For everybody." },
      ],
    } satisfies Step;
    const marker = server.scenario([step, step]);
    const first = { user: `I am Ann. ${marker}` };
    const turns = [[first], [first, { assistant: "For Ann." }, { user: "And now?" }], [{ user: marker }]];
    const answers = await Promise.all(turns.map(async (given) => (await ask(server.url, client, { turns: given })).deltas.join("")));
    expect(answers).toEqual(["For Ann.", "For Ann.", "For everybody."]);
  });

  test("errors have the vendor's body, and end after the given number of times", async () => {
    const marker = server.scenario([{ error: 429, times: 2 }, { error: 500, times: 1 }, { text: "Well." }]);
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await post(server.url, client, { turns: [{ user: marker }] }));
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 500, 200]);
    expect(answers.map(({ headers }) => headers.get("retry-after"))).toEqual(["1", "1", null, null]);
    expect(await answers[0]?.json()).toMatchObject({ error: { message: "Scripted error 429" } });
    const own = server.scenario([{ error: 418, body: { own: true } }]);
    expect(await (await post(server.url, client, { turns: [{ user: own }] })).json()).toEqual({ own: true });
  });

  test("a hanging answer sends its text and ends when the server closes", async () => {
    const marker = server.scenario([{ hang: true, say: "Begun." }]);
    const response = await post(server.url, client, { turns: [{ user: marker }] });
    let received = "";
    await expect(
      (async () => {
        for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
          received += chunk;
          if (client.readStream(readFrames(received) as never[]).deltas.join("") === "Begun.") await server.close();
        }
      })(),
    ).rejects.toThrow("terminated");
    server = await createModelServer();
  });

  test.each(["text", "call"] as const)("a connection breaks once in a %s, and the next request is answered", async (place) => {
    const marker = server.scenario([
      { breakIn: place, say: "Begun.", tools: [{ kind: "raw", name: "look", input: { a: 1 } }] },
      { text: "Whole." },
    ]);
    const conversation = { turns: [{ user: marker }], tools: ["look"] };
    const response = await post(server.url, client, conversation);
    let received = "";
    await expect(
      (async () => {
        for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) received += chunk;
      })(),
    ).rejects.toThrow("terminated");
    expect(received).not.toContain("Whole.");
    if (place === "text") expect(client.readStream(readFrames(received) as never[]).deltas.join("")).toBe("Begun.");
    expect((await ask(server.url, client, conversation)).deltas.join("")).toBe("Whole.");
  });

  test("a truncated answer and a refusal have the vendor's finish reasons", async () => {
    const reasons = /"(?:max_tokens|MAX_TOKENS|max_output_tokens|length|refusal|SAFETY)"/;
    for (const step of [{ text: "Half", cutShort: true as const }, { refuse: "I will not." }]) {
      const marker = server.scenario([step, { text: "Whole." }]);
      for (const stream of [true, false]) {
        const response = await post(server.url, client, { turns: [{ user: marker }] }, stream);
        expect(await response.text()).toMatch(reasons);
      }
    }
  });

  test("a message without a marker is answered", async () => {
    expect((await ask(server.url, client, { turns: [{ user: "Hello." }] })).deltas.join("")).toBe("No scenario.");
    expect((await ask(server.url, client, { turns: [{ user: "[[scenario s9]]" }] })).deltas.join("")).toBe("No scenario s9.");
  });
});

test("the requests are recorded unchanged", async () => {
  await ask(server.url, wireClients.anthropic, { system: "Rules.", turns: [{ user: "Hello." }] }, true, { "user-agent": "test" });
  expect(server.requests).toMatchObject([
    {
      method: "POST",
      path: "/v1/messages?beta=true",
      headers: { "user-agent": "test" },
      body: { model: "scripted", system: [{ text: "Rules." }], messages: [{ role: "user", content: "Hello." }] },
    },
  ]);
});

test.each([
  { client: wireClients.anthropic, body: { type: "error", error: { type: "authentication_error" } } },
  { client: wireClients.responses, body: { error: { code: "invalid_api_key" } } },
  { client: wireClients.chatCompletions, body: { error: { code: "invalid_api_key" } } },
  { client: wireClients.gemini, body: { error: { code: 401, status: "UNAUTHENTICATED" } } },
])("$client.protocol reports missing credentials in the vendor's format", async ({ client, body }) => {
  const response = await post(server.url, client, { turns: [{ user: server.scenario([{ error: 401 }]) }] });
  expect(await response.json()).toMatchObject(body);
});

test.each([
  { path: "/v1/messages/count_tokens", body: { input_tokens: 130 } },
  { path: "/api/hello", body: { message: "hello" } },
  { path: "/v1beta/models/scripted:countTokens", body: { totalTokens: 130 } },
])("$path", async ({ path, body }) => {
  expect(await (await fetch(server.url + path, { method: "POST", body: "{}" })).json()).toEqual(body);
});

test("an unknown path is not found, and an invalid JSON body is rejected", async () => {
  expect((await fetch(`${server.url}/v1/models`)).status).toBe(404);
  expect((await fetch(`${server.url}/v1/messages`, { method: "POST", body: "{" })).status).toBe(400);
});
