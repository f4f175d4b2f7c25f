import { expect, test } from "vitest";
import { buildDispatch, describeFault, fieldOf, toFormValues, toTypeScript } from "../src/dispatch-form.ts";

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

test("a maximum cost is the budget of the dispatch, and a budget with other fields is kept as JSON", () => {
  expect(buildDispatch({ maxCostUsd: "2.5" }).body).toEqual({ budget: { maxCostUsd: 2.5 } });
  expect(toFormValues({ budget: { maxCostUsd: 2.5 } })).toMatchObject({ maxCostUsd: "2.5" });
  const budget = { maxCostUsd: 2.5, maxTokens: 1000 };
  expect(buildDispatch(toFormValues({ budget })).body).toEqual({ budget });
  expect(["budget.maxCostUsd", "budget.maxTokens"].map((path) => fieldOf(path))).toEqual(["maxCostUsd", null]);
});

test("a repository has fields, and one with other values is kept as JSON", () => {
  const repository = { name: "web", ref: "main", branch: "bridge/x" };
  expect(buildDispatch({ "repository.name": "web", "repository.ref": " ", "repository.branch": "" }).body).toEqual({
    repository: { name: "web" },
  });
  expect(buildDispatch(toFormValues({ repository: { ...repository, keep: "branch", push: false } })).body).toEqual({ repository });
  const others = { ...repository, keep: "none", push: false };
  expect(buildDispatch(toFormValues({ repository: others })).body).toEqual({ repository: others });
  expect(["repository", "repository.ref", "repository.branch", "repository.keep"].map((path) => fieldOf(path))).toEqual([
    ...["repository.name", "repository.ref", "repository.branch", null],
  ]);
});

test("the program for a dispatch contains its fields, with their quotes escaped", () => {
  const program = toTypeScript("http://127.0.0.1:8787/", { agentId: "writer", message: `Say "hi" and 'this'.` });
  expect(program).toContain('createBridgeClient({ url: "http://127.0.0.1:8787/"');
  expect(program).toContain(`"message": "Say \\"hi\\" and 'this'."`);
});

test("errors of Bridge belong to the field of the form", () => {
  expect(
    ["message", "outputStrategy.path", "outputStrategy.schema.type", "outputStrategy", "metadata.a", "mcpServers.0"].map((path) =>
      fieldOf(path),
    ),
  ).toEqual([...["message", "outputPath", "outputSchema", "output", "metadata", null]]);
});

test("a number that JavaScript would change is sent as it is, so that Bridge rejects it", () => {
  const { body } = buildDispatch({ metadata: '{"order": 12345678901234567890, "size": 12345678901234567.0}' });
  expect(JSON.stringify(body)).toBe('{"metadata":{"order":12345678901234567890,"size":12345678901234567.0}}');
});

test("the fields of a council become its input, and a stored input becomes the fields again", () => {
  const bridgeInput = {
    ...{ task_description: "Review the login.", scope: "login.ts", task_type: "review", intensity: "quick" },
    ...{ domains: ["security", "api"], provider: "claude", context_summary: "A web service." },
  };
  const values = toFormValues({ provider: "bridge-claude", agentId: "reviewer", bridgeInput });
  expect(values).toMatchObject({ "council.domains": "security,api", "council.scope": "login.ts" });
  expect(buildDispatch(values, "council")).toEqual({ body: { provider: "bridge-claude", agentId: "reviewer", bridgeInput }, errors: [] });
});

test("a council has an input from the first field on, and no message", () => {
  expect(buildDispatch({ message: "left over", "council.scope": " src " }, "council").body).toEqual({ bridgeInput: { scope: "src" } });
  expect(buildDispatch({ message: "hello", "council.scope": "src" }).body).toEqual({ message: "hello" });
});

test("errors of a council belong to its fields", () => {
  const paths = ["bridgeInput.scope", "bridgeInput.domains.0", "bridgeInput", "bridgeInput.custom_domains", "profile", "council.others"];
  expect(paths.map((path) => fieldOf(path, "council"))).toEqual([
    ...["council.scope", "council.domains", "council.others", "council.others", "profile", "council.others"],
  ]);
});

test("a fault is described in the words of the form", () => {
  expect(describeFault("agentId", "is required (string)")).toBe("Agent is required.");
  expect(describeFault("timeoutSeconds", "must be between 1 and 86400; got 0.")).toBe(
    "Time limit in seconds must be between 1 and 86400; got 0.",
  );
});
