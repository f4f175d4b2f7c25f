import { expect, test } from "vitest";
import { limitBody } from "../../../../adapters/shared/model-api/limit-body.ts";

/** Reads a body of these chunks under a limit of ten bytes. */
async function read(chunks: readonly string[], perEvent: boolean): Promise<{ text: string | null; ended: boolean }> {
  let ended = false;
  const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
  const onEnd = (): void => {
    ended = true;
  };
  const response = limitBody(new Response(body, { status: 201 }), { bytes: 10, perEvent, createError: () => new Error("too much"), onEnd });
  expect(response.status).toBe(201);
  return { text: await response.text().catch(() => null), ended };
}

test.each<[string, readonly string[], boolean, boolean]>([
  ["the maximum size", ["12345", "67890"], false, true],
  ["more than the maximum size", ["12345", "678901"], false, false],
  ["more than the maximum size in several events", ["data:1\n\n", "data:2\n\n", "data:3\n\n"], true, true],
  ["the same in one chunk", ["data:1\n\ndata:2\n\ndata:3\n\n"], true, true],
  ["events whose ends are split", ["data:1\n", "\ndata:2\r\n\r", "\ndata:3\n", "\n"], true, true],
  ["one event that is too long", ["data:1\n\n", "data:2345678"], true, false],
  ["one event of many lines that is too long", ["data:1\n\n", "data:2\n", "data:3\n"], true, false],
])("limitBody with a body of %s", async (_, chunks, perEvent, isWhole) => {
  expect(await read(chunks, perEvent)).toEqual({ text: isWhole ? chunks.join("") : null, ended: true });
});

test("limitBody limits the total size of an event stream", async () => {
  const read = async (count: number) => {
    const body = ReadableStream.from(Array.from({ length: count }, () => new TextEncoder().encode("data:1\n\n")));
    const limits = { bytes: 10, perEvent: true, totalBytes: 24, createError: () => new Error("too much") };
    return await limitBody(new Response(body), limits)
      .text()
      .catch(({ message }: Error) => message);
  };
  expect([await read(3), await read(4)]).toEqual(["data:1\n\n".repeat(3), "too much"]);
});

test("a stream of many events does not block the event loop", async () => {
  const text = "data: {}\n\n".repeat(100_000);
  const body = ReadableStream.from([new TextEncoder().encode(text)]);
  const headers = { "content-type": "text/event-stream" };
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const limited = limitBody(new Response(body, { headers }), { bytes: 10_000_000, createError: () => new Error("too much") });
  expect(await limited.text()).toBe(text);
  isOver = true;
  expect(turns).toBeGreaterThan(200);
});
