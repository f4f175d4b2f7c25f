import { expect, test } from "vitest";
import { buildDispatch, fieldOf, toFormValues, toTypeScript } from "../../web/src/dispatch-form.ts";

test("empty fields are omitted, so that Bridge applies its defaults", () => {
  expect(
    buildDispatch({ provider: "", agentId: " writer ", message: " keep spaces ", timeoutSeconds: "", metadata: " ", output: "" }),
  ).toEqual({
    body: { agentId: "writer", message: " keep spaces " },
    errors: [],
  });
});

test("an output strategy is built from its fields, and other fields are added as they are", () => {
  const values = { output: "structured", outputSchema: '{"type":"object"}', timeoutSeconds: "60", others: '{"files":[]}' };
  expect(buildDispatch(values).body).toEqual({
    timeoutSeconds: 60,
    outputStrategy: { type: "structured", schema: { type: "object" } },
    files: [],
  });
});

test("invalid JSON is reported at its field", () => {
  const { errors } = buildDispatch({ metadata: "{", others: "[]" });
  expect(errors.map(({ path }) => path).toSorted()).toEqual(["metadata", "others"]);
});

test("a stored request becomes the fields of the form and the same dispatch again, without its id", () => {
  const request = {
    ...{ taskId: "old", provider: "claude", agentId: "writer", message: "Hello.", profile: "modify", timeoutSeconds: 60 },
    ...{ outputStrategy: { type: "file", path: "a.md" }, metadata: { ticket: 7 }, mcpServers: [{ name: "x" }] },
  };
  const { taskId: _, ...again } = request;
  expect(buildDispatch(toFormValues(request))).toEqual({ body: again, errors: [] });
});

test("the program for a dispatch contains its fields, with their quotes escaped", () => {
  const program = toTypeScript("http://127.0.0.1:8787/", { agentId: "writer", message: `Say "hi" and 'this'.` });
  expect(program).toContain('createBridgeClient({ url: "http://127.0.0.1:8787/"');
  expect(program).toContain(`"message": "Say \\"hi\\" and 'this'."`);
});

test("errors of Bridge belong to the field of the form", () => {
  expect(
    ["message", "outputStrategy.path", "outputStrategy.schema.type", "outputStrategy", "metadata.a", "mcpServers.0"].map(fieldOf),
  ).toEqual([...["message", "outputPath", "outputSchema", "output", "metadata", null]]);
});

test("a number that JavaScript would change is sent as it is, so that Bridge rejects it", () => {
  const { body } = buildDispatch({ metadata: '{"order": 12345678901234567890, "size": 12345678901234567.0}' });
  expect(JSON.stringify(body)).toBe('{"metadata":{"order":12345678901234567890,"size":12345678901234567.0}}');
});
