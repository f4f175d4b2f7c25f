import { describe, expect, test } from "vitest";
import { createExcerptReader, EXCERPT_BYTES } from "../../src/posts/response-excerpt.ts";

const read = (parts: readonly Uint8Array[], isComplete = true) => {
  const reader = createExcerptReader();
  for (const part of parts) reader.add(part);
  reader.end(isComplete);
  return reader.read();
};

describe("an excerpt", () => {
  test.each([
    ["an empty body", "", "", false],
    ["a short body", '{"error":"ü 😀"}\r\n\t', '{"error":"ü 😀"}\r\n\t', false],
    ["a body of the exact limit", "a".repeat(EXCERPT_BYTES), "a".repeat(EXCERPT_BYTES), false],
    ["a body that is one byte longer", "a".repeat(EXCERPT_BYTES + 1), "a".repeat(EXCERPT_BYTES), true],
    ["a character across the limit", `${"a".repeat(EXCERPT_BYTES - 2)}😀`, "a".repeat(EXCERPT_BYTES - 2), true],
    ["control characters", "a\0b\x1b[31m\x7f\x85c", "a\ufffdb\ufffd[31m\ufffd\ufffdc", false],
  ])("an excerpt of %s", async (_, body, text, isTruncated) => {
    const bytes = Buffer.from(body);
    expect(await read([bytes])).toEqual({ text, isTruncated });
    expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual({ text, isTruncated });
  });

  test("an excerpt replaces invalid UTF-8, also at the end of a whole body", async () => {
    expect(await read([Uint8Array.of(0x61, 0xff, 0x62, 0xf0, 0x9f)])).toEqual({ text: "a\ufffdb\ufffd", isTruncated: false });
  });

  test("an excerpt of an aborted response is truncated, without an incomplete last character", async () => {
    expect(await read([Uint8Array.of(0x61, 0xf0, 0x9f)], false)).toEqual({ text: "a", isTruncated: true });
  });

  test("an excerpt copies what it keeps, because the buffer of a socket is used again", async () => {
    const reader = createExcerptReader();
    const part = Buffer.from("first");
    reader.add(part);
    part.fill("x");
    reader.end(true);
    expect(await reader.read()).toEqual({ text: "first", isTruncated: false });
  });

  test("an excerpt does not wait for the end of a response that stays open", async () => {
    const reader = createExcerptReader();
    reader.add(Buffer.from("slow"));
    expect(await reader.read()).toEqual({ text: "slow", isTruncated: true });
    // What arrives later is dropped.
    reader.add(Buffer.from("late"));
    reader.end(true);
  });
});
