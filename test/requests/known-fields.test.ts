import { expect, test } from "vitest";
import { z } from "zod";
import { toFieldErrors } from "../../src/requests/field-errors.ts";
import { listKnownFields } from "../../src/requests/known-fields.ts";

const schema = z
  .strictObject({
    provider: z.string(),
    nested: z.strictObject({ deadline: z.string() }).optional(),
    list: z.array(z.strictObject({ command: z.string() })).default([]),
    byName: z.record(z.string(), z.strictObject({ title: z.string() })),
    either: z.union([z.strictObject({ first: z.string() }), z.strictObject({ second: z.string() })]).nullable(),
  })
  .transform((value) => value);

test.each([
  [[], ["provider", "nested", "list", "byName", "either"]],
  [["nested"], ["deadline"]],
  [["list", 3], ["command"]],
  [["byName", "any"], ["title"]],
  [["either"], ["first", "second"]],
  [["provider"], []],
  [["absent", "below"], []],
  [["toString"], []],
])("the known fields at %j are %j", (path, known) => {
  expect(listKnownFields(schema, path)).toEqual(known);
});

test.each([
  [{ provder: "a" }, "provder", "is not a known field; did you mean provider?"],
  [{ nested: { deadlin: "a" } }, "nested.deadlin", "is not a known field; did you mean deadline?"],
  [{ list: [{ comand: "a" }] }, "list.0.comand", "is not a known field; did you mean command?"],
  [{ anythingElse: 1 }, "anythingElse", "is not a known field; remove it or correct its spelling"],
  [{ ["p".repeat(10_000)]: 1 }, `${"p".repeat(200)}…`, "is not a known field; remove it or correct its spelling"],
])("an unknown field suggests the nearest name: %#", (value, path, message) => {
  const { error } = schema.safeParse(value);
  expect(toFieldErrors(error?.issues ?? [], { schema })).toContainEqual({ path, message });
});
