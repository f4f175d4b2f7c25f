import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ModelMessage } from "ai";
import { describe, expect, test } from "vitest";
import { createConversations } from "../../../../adapters/shared/model-api/conversations.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { openToolEndpoint } from "./tool-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

const day = 24 * 3600 * 1000;
const messages: ModelMessage[] = [
  { role: "user", content: "Remember 4711." },
  { role: "assistant", content: [{ type: "text", text: "I will.\u2028" }, { type: "custom", kind: "anthropic.message_start" } as never] },
];
const home = "/homes/tenant/agent";

async function open(retentionDays = 7) {
  const directory = path.join(await temporaryDirectory(), "conversations");
  return { directory, conversations: createConversations(directory, retentionDays) };
}
const age = async (directory: string, days: number): Promise<void> => {
  const then = new Date(Date.now() - days * day);
  for (const name of await readdir(directory)) await utimes(path.join(directory, name), then, then);
};

test("a stored conversation is read back without vendor-specific parts, and only its owner can read the file", async () => {
  const { directory, conversations } = await open();
  const token = await conversations.write(home, undefined, messages);
  expect(await conversations.read(home, token)).toEqual([
    messages[0],
    { role: "assistant", content: [{ type: "text", text: "I will.\u2028" }] },
  ]);
  const [name = ""] = await readdir(directory);
  expect((await stat(path.join(directory, name))).mode & 0o777).toBe(0o600);
  expect(name).not.toContain(token);
  expect(await conversations.write(home, token, messages)).toBe(token);
  expect(await readdir(directory)).toEqual([name]);
});

describe("a token is unknown", () => {
  test.each([
    ["to another agent", "/homes/tenant/other", (token: string) => token],
    ["when it was never issued", home, () => "conversation-00000000-0000-4000-8000-000000000000"],
    ["when it is a path", home, () => "../../../etc/passwd"],
    ["when it is long", home, () => "x".repeat(100_000)],
    ["when it is empty", home, () => ""],
  ])("%s", async (_, other, tokenOf) => {
    const { conversations } = await open();
    const token = await conversations.write(home, undefined, messages);
    await expect(conversations.read(other, tokenOf(token))).rejects.toThrow("The resume token is unknown");
  });

  test("after the retention period, and its file is removed", async () => {
    const { directory, conversations } = await open(7);
    const token = await conversations.write(home, undefined, messages);
    await age(directory, 6.9);
    await conversations.read(home, token);
    await age(directory, 7.1);
    await expect(conversations.read(home, token)).rejects.toThrow("expired after 7 days");
    await conversations.sweep();
    expect(await readdir(directory)).toEqual([]);
  });
});

test("a sweep keeps recent conversations and runs at most once per hour", async () => {
  const { directory, conversations } = await open(1);
  await conversations.sweep();
  await conversations.write(home, undefined, messages);
  await age(directory, 2);
  await conversations.sweep();
  expect(await readdir(directory)).toHaveLength(1);
  const token = await conversations.write(home, undefined, messages);
  await conversations.sweep(Date.now() + 3_700_000);
  expect(await readdir(directory)).toHaveLength(1);
  await conversations.read(home, token);
});

test("a conversation over the size limit is rejected with that reason", async () => {
  const { conversations } = await open();
  const token = await conversations.write(home, undefined, [{ role: "user", content: "x".repeat(17 * 1024 ** 2) }]);
  await expect(conversations.read(home, token)).rejects.toThrow("longer than 16 MiB");
});

test("a damaged file is rejected with a clear error", async () => {
  const { directory, conversations } = await open();
  const token = await conversations.write(home, undefined, messages);
  const [name = ""] = await readdir(directory);
  for (const content of ["{", "[]", '{"messages":[{"role":"nobody"}]}']) {
    await writeFile(path.join(directory, name), content);
    await expect(conversations.read(home, token)).rejects.toThrow("cannot be read");
  }
});

describe("a task", () => {
  test("a task continues the conversation of its token, which stays", async () => {
    const { url, requests } = await openToolEndpoint([]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { resumeToken = "" } = (await fixture.run({ message: "one" })).result;
    for (const message of ["two", "three"])
      expect((await fixture.run({ message, resumeToken })).result).toMatchObject({ status: "ok", resumeToken });
    const messages = ((requests.at(-1)?.body["messages"] ?? []) as { role: string; content: string }[]).filter(
      ({ role }) => role === "user",
    );
    expect(messages.map(({ content }) => content)).toEqual(["one", "two", "three"]);
  });

  test("a task with an unknown token fails, and calls no model", async () => {
    const { url, requests } = await openToolEndpoint([]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result } = await fixture.run({ resumeToken: "never-given" });
    expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining("Omit `resumeToken`") });
    expect(result).not.toHaveProperty("resumeToken");
    expect(requests).toEqual([]);
  });

  test("a task whose conversation cannot be stored succeeds without a resume token", async () => {
    const { url } = await openToolEndpoint([]);
    const filesDir = await temporaryDirectory();
    await mkdir(filesDir, { recursive: true });
    await writeFile(path.join(filesDir, "conversations"), "no directory");
    const errors: object[] = [];
    const quiet = () => {};
    const logger = { debug: quiet, info: quiet, warn: quiet, error: (fields: object) => void errors.push(fields) };
    const fixture = await openVercelFixture({ baseUrl: url }, { filesDir, logger });
    const { result } = await fixture.run({});
    expect(result.status).toBe("ok");
    expect(result).not.toHaveProperty("resumeToken");
    expect(errors).toHaveLength(1);
  });

  test("a task that fails does not change the conversation", async () => {
    const filesDir = await temporaryDirectory();
    const { url } = await openToolEndpoint([{ id: "1", name: "ask" }]);
    const fixture = await openVercelFixture({ baseUrl: url }, { filesDir });
    const { resumeToken = "" } = (await fixture.run({ tools: [{ name: "ask", description: "", inputSchema: { type: "object" } }] })).result;
    const read = async () => {
      const directory = path.join(filesDir, "conversations");
      return await Promise.all((await readdir(directory)).map((name) => readFile(path.join(directory, name), "utf8")));
    };
    const before = await read();
    const broken = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" }, { filesDir });
    const { directories } = fixture.lastTask().request;
    const { result } = await broken.run({ resumeToken, message: "yes", directories });
    expect(result).toMatchObject({ status: "error", errorCode: "adapter_offline", resumeToken });
    expect(await read()).toEqual(before);
  });
});
