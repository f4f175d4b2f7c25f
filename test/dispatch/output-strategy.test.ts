import { createHash } from "node:crypto";
import { symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { applyOutputStrategy, lastJsonObject, outputInstructions } from "../../src/dispatch/output-strategy.ts";
import { temporaryDirectory } from "../temporary-directory.ts";

const ok = (fields: Partial<ExecutionResult> = {}): ExecutionResult => ({ status: "ok", durationMs: 1, connection: "cli", ...fields });

test.each([
  ["nothing", "", undefined],
  ["prose only", "no braces here", undefined],
  ["an unclosed object", '{"a": ', undefined],
  ["an array is no object", "[1]", undefined],
  ["the whole text", ' {"a": 1}\n', { a: 1 }],
  ["a fenced block", 'Here:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
  ["the last of two fenced blocks", '```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', { b: 2 }],
  ["a fenced block without a name", '```\n{"a": 1}\n```', { a: 1 }],
  ["a broken last block falls back to the one before", '```json\n{"a": 1}\n```\n```json\n{"b": \n```', { a: 1 }],
  ["an object in prose", 'The answer is {"a": {"b": 2}} as you see.', { a: { b: 2 } }],
  ["the last of two objects in prose", 'first {"a": 1} then {"b": 2}.', { b: 2 }],
  ["braces inside strings", 'so: {"a": "}{"}', { a: "}{" }],
  ["CRLF", '```json\r\n{"a": 1}\r\n```', { a: 1 }],
])("the last JSON object of a text: %s", (_, text, expected) => {
  expect(lastJsonObject(text)).toEqual(expected);
});

test("a text full of braces costs a bounded number of tries", () => {
  expect(lastJsonObject(`${"{".repeat(100_000)}x}`)).toBeUndefined();
});

test("a long text whose every opening is good to its end costs a bounded time", () => {
  const text = `${'{"":'.repeat(300)}"${"x".repeat(10_000_000)}"}`;
  const startedAt = performance.now();
  expect(lastJsonObject(text)).toEqual({ "": expect.any(String) });
  expect(performance.now() - startedAt).toBeLessThan(1_500);
});

test("only a file and an object need words to the runtime", () => {
  expect(outputInstructions({ type: "stream" })).toBeUndefined();
  expect(outputInstructions({ type: "file", path: 'a"b.md' })).toContain('"a\\"b.md"');
  expect(outputInstructions({ type: "structured", schema: { type: "object" } })).toContain('{"type":"object"}');
});

describe("structured", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const strategy = { type: "structured", schema } as const;

  test.each([
    ["the runtime's own outputs", ok({ outputs: { n: 1 }, output: '{"n": 2}' }), { status: "ok", outputs: { n: 1 } }],
    ["the text", ok({ output: 'so ```json\n{"n": 2}\n```' }), { status: "ok", outputs: { n: 2 } }],
    [
      "no object",
      ok({ output: "sorry" }),
      { status: "error", errorCode: "output_invalid", output: "sorry", error: "The answer holds no JSON object." },
    ],
    [
      "an object that does not fit",
      ok({ output: '{"n": "x"}' }),
      {
        status: "error",
        errorCode: "output_invalid",
        output: '{"n": "x"}',
        error: "The answer does not fit the schema: n must be integer.",
      },
    ],
  ])("takes %s", (_, result, expected) => {
    expect(applyOutputStrategy(strategy, result, "/nowhere")).toMatchObject(expected);
  });

  test("keeps no outputs that are not valid", () => {
    expect(applyOutputStrategy(strategy, ok({ outputs: { n: "x" } }), "/nowhere")).not.toHaveProperty("outputs");
  });

  test("a pattern that backtracks for ever is cut off", () => {
    const slow = { type: "object", properties: { s: { type: "string", pattern: "^(a+)+$" } } };
    const result = applyOutputStrategy({ type: "structured", schema: slow }, ok({ outputs: { s: `${"a".repeat(50)}!` } }), "/nowhere");
    expect(result).toMatchObject({ status: "error", errorCode: "output_invalid" });
  });
});

describe("file", () => {
  test("tells the content, size and digest of what was written", async () => {
    const workspace = await temporaryDirectory();
    await writeFile(path.join(workspace, "r.md"), "grüß");
    const sha256 = createHash("sha256").update("grüß").digest("hex");
    expect(applyOutputStrategy({ type: "file", path: "r.md" }, ok({ output: "said" }), workspace)).toMatchObject({
      status: "ok",
      output: "grüß",
      outputs: { path: "r.md", bytes: 6, sha256 },
    });
  });

  test("a file that is missing, or a link out of the workspace, is output_invalid", async () => {
    const workspace = await temporaryDirectory();
    const elsewhere = path.join(await temporaryDirectory(), "secret");
    await writeFile(elsewhere, "secret");
    await symlink(elsewhere, path.join(workspace, "link.md"));
    for (const name of ["missing.md", "link.md"]) {
      const result = applyOutputStrategy({ type: "file", path: name }, ok({ output: "said" }), workspace);
      expect(result).toMatchObject({ status: "error", errorCode: "output_invalid", output: "said" });
      expect(JSON.stringify(result)).not.toContain("secret");
    }
  });
});
