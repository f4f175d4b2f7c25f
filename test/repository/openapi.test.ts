import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { renderOpenapi } from "../../scripts/render-openapi.ts";

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string; description?: string; schema: object }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, { $ref?: string; headers?: object; content?: Record<string, { schema: object }> }>;
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  tags: { name: string; description: string }[];
  components: { schemas: Record<string, { examples?: unknown[] }>; headers: object; responses: object };
}

const document = parse(await renderOpenapi()) as Description;
const text = JSON.stringify(document);
const operations = [...Object.entries(document.paths), ...Object.entries(document.webhooks)].flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

describe.each(operations)("$name", ({ operation }) => {
  test("each operation has an operationId, a summary, a description and a tag that is described", () => {
    const { operationId, summary, description, tags } = operation;
    expect(operationId).toMatch(/^[a-z]+([A-Z][a-z]+)+$/);
    expect(summary).toMatch(/^[A-Z][^.]+[^.]$/);
    expect(description).toMatch(/^[A-Z].+\.$/s);
    expect(tags).toHaveLength(1);
    expect(document.tags.map((tag) => tag.name)).toContain(tags?.[0]);
  });

  test("each operation describes each of its parameters", () => {
    expect((operation.parameters ?? []).filter(({ description = "" }) => description === "")).toEqual([]);
  });

  test("each operation has an example of its body", () => {
    for (const [type, { schema, example }] of Object.entries(operation.requestBody?.content ?? {})) {
      if (type !== "application/json") continue;
      expect(schema).toHaveProperty("$ref");
      if (!Object.hasOwn(document.webhooks, operation.operationId ?? "")) expect(example).toBeDefined();
    }
  });
});

describe.each(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({ path, method, responses })),
  ),
)("$method $path", ({ responses }) => {
  test("each operation describes the error of a wrong method and all other errors", () => {
    expect(responses["405"]).toEqual({ $ref: "#/components/responses/MethodNotAllowed" });
    expect(responses["default"]).toEqual({ $ref: "#/components/responses/OtherProblem" });
  });

  test("each operation describes the headers of its responses", () => {
    for (const [status, response] of Object.entries(responses)) {
      if (response.$ref !== undefined) continue;
      const names = Object.keys(response.headers ?? {});
      expect(names).toContain("X-Request-Id");
      if (status === "401") expect(names).toContain("WWW-Authenticate");
      if (status === "429" || status === "503") expect(names).toContain("Retry-After");
    }
  });
});

/** Generated clients use these names, so they must never change, even if the route does. */
const published = [
  "dispatchTask",
  "listTasks",
  "getTask",
  "cancelTask",
  "deleteTask",
  "listTaskEvents",
  "listTaskFiles",
  "downloadTaskFile",
  "getTaskDiff",
  "listWorkspaces",
  "putWorkspaceFile",
  "deleteWorkspaceFile",
  "streamEvents",
  "createTicket",
  "listApprovals",
  "decideApproval",
  "listCallbacks",
  "getCallback",
  "redeliverCallback",
  "redeliverCallbacks",
  "listAdapters",
  "listDomains",
  "getRuntime",
  "listAgents",
  "createAgent",
  "getAgent",
  "updateAgent",
  "deleteAgent",
  "listAgentFiles",
  "getAgentFile",
  "putAgentFile",
  "deleteAgentFile",
  "getAgentBindings",
  "replaceAgentBindings",
  "listSkills",
  "getSkill",
  "putSkill",
  "deleteSkill",
  "installSkillDependencies",
  "reloadRuntime",
  "listModels",
  "getSecurityPosture",
  "getServiceInfo",
  "checkHealth",
  "checkReadiness",
  "getMetrics",
  "openSocket",
  "taskEnded",
];

test("no operationId is removed or used twice", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(ids).toEqual(expect.arrayContaining(published));
  expect(new Set(ids).size).toBe(ids.length);
});

test("every reference resolves to a component, and every component is used", () => {
  const used = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name));
  const known = Object.entries(document.components).flatMap(([kind, all]) =>
    kind === "securitySchemes" ? [] : Object.keys(all).map((name) => `${kind}/${name}`),
  );
  expect([...used].toSorted()).toEqual(known.toSorted());
});

test("examples match their schemas", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const faults = (schema: object, example: unknown) => {
    const validate = ajv.compile({ ...schema, components: document.components });
    return validate(example) ? [] : validate.errors;
  };
  let count = 0;
  for (const [name, { examples = [] }] of Object.entries(document.components.schemas))
    for (const example of examples) {
      count += 1;
      expect(faults({ $ref: `#/components/schemas/${name}` }, example), name).toEqual([]);
    }
  for (const { name, operation } of operations)
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
      if (example === undefined) continue;
      count += 1;
      expect(faults(schema, example), name).toEqual([]);
    }
  expect(count).toBeGreaterThan(15);
});

/** Lists all schemas of the document with their paths. */
function* schemasIn(value: unknown, place = "#"): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [place, value as Record<string, unknown>];
  for (const [name, part] of Object.entries(value))
    if (name !== "example" && name !== "examples") yield* schemasIn(part, `${place}/${name}`);
}

test("every response has a schema", () => {
  const contents = operations.flatMap(({ name, operation }) =>
    Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).map(({ schema }) => [`${name} ${status}`, Object.keys(schema).length] as const),
    ),
  );
  expect(contents.filter(([, keywords]) => keywords === 0)).toEqual([]);
});

test("only strings have patterns, and the patterns have the same meaning in other languages", () => {
  for (const [place, { pattern, type }] of schemasIn(document)) {
    if (typeof pattern !== "string") continue;
    expect(type, place).toBe("string");
    // `\p{…}` needs a flag in JavaScript and is unknown in Python; `\0` has a different meaning in Java; `\u` is unknown in Go.
    expect(pattern, place).not.toMatch(/\\[pPu0]/);
  }
});

test("responses may contain fields and codes that a client does not know", () => {
  const answered = new Set<string>();
  const findAnswered = (value: unknown): void => {
    for (const [place, schema] of schemasIn(value)) {
      expect(schema["additionalProperties"], place).not.toBe(false);
      const [, name] = /^#\/components\/schemas\/(.+)$/.exec(String(schema["$ref"])) ?? [];
      if (name === undefined || answered.has(name)) continue;
      answered.add(name);
      findAnswered(document.components.schemas[name]);
    }
  };
  for (const { operation } of operations) findAnswered(operation.responses);
  findAnswered(document.components.responses);
  findAnswered(document.webhooks);
  expect([...answered]).toEqual(expect.arrayContaining(["Task", "Problem", "Event", "CallbackBody", "ErrorCode", "TaskErrorCode"]));
  for (const name of ["ErrorCode", "TaskErrorCode", "Connection", "WaitingReason"])
    expect(document.components.schemas[name]).toMatchObject({ anyOf: [{ type: "string", enum: expect.any(Array) }, { type: "string" }] });
});

test("events are discriminated by their type, and each type has its own data", () => {
  const { Event: event } = document.components.schemas as Record<string, { oneOf?: unknown[]; discriminator?: { mapping: object } }>;
  expect(event).toMatchObject({ discriminator: { propertyName: "type" } });
  expect(event?.oneOf).toHaveLength(Object.keys(event?.discriminator?.mapping ?? {}).length);
  expect(event?.discriminator?.mapping).toMatchObject({ "assistant.text": "#/components/schemas/AssistantTextEvent" });
});

test("a field has one name: aliases are accepted and not described", () => {
  const described = [...schemasIn(document)].flatMap(([, schema]) => Object.keys(schema));
  expect(described).toEqual(expect.arrayContaining(["bridgeInput", "timeoutSeconds", "/healthz"]));
  expect(described.filter((name) => ["bridge_input", "timeout", "/health"].includes(name))).toEqual([]);
});
