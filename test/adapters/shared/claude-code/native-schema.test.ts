import { describe, expect, test } from "vitest";
import { nativeSchema } from "../../../../adapters/shared/claude-code/native-schema.ts";

describe("the native schema", () => {
  const of = (schema: Record<string, unknown>) => nativeSchema({ outputStrategy: { type: "structured", schema } });

  test("is the one of the dispatch", () => expect(of({ type: "object" })).toBe('{"type":"object"}'));
  test("is left to Bridge where Claude Code knows no such draft", () =>
    expect(of({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" })).toBeNull());
  test.each([{ type: "array" }, { properties: {} }, { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }])(
    "is left to Bridge where the vendor takes no tool of it: %j",
    (schema) => expect(of(schema)).toBeNull(),
  );
  test("is left to Bridge where it fits into no argument", () => expect(of({ type: "object", title: "界".repeat(50_000) })).toBeNull());
  test("is absent where no object is asked for", () => expect(nativeSchema({ outputStrategy: { type: "stream" } })).toBeNull());
});
