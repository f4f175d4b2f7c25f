import { describe, expect, test } from "vitest";
import { getNativeSchema } from "../../../../adapters/shared/claude-code/native-schema.ts";

describe("the schema for Claude Code", () => {
  const of = (schema: Record<string, unknown>) => getNativeSchema({ outputStrategy: { type: "structured", schema } });

  test("the schema for Claude Code is the schema of the dispatch", () => expect(of({ type: "object" })).toBe('{"type":"object"}'));
  test("the schema for Claude Code is null for a draft that Claude Code does not support", () =>
    expect(of({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" })).toBeNull());
  test.each([{ type: "array" }, { properties: {} }, { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }])(
    "the schema for Claude Code is null if the vendor does not accept it as a tool schema: %j",
    (schema) => expect(of(schema)).toBeNull(),
  );
  test("the schema for Claude Code is null if it is too long for an argument", () =>
    expect(of({ type: "object", title: "界".repeat(50_000) })).toBeNull());
  test("the schema for Claude Code is null without structured output", () =>
    expect(getNativeSchema({ outputStrategy: { type: "stream" } })).toBeNull());
});
