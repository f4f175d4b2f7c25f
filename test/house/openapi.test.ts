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
  test("has an operationId, a summary, a description and a tag that is described", () => {
    const { operationId, summary, description, tags } = operation;
    expect(operationId).toMatch(/^[a-z]+([A-Z][a-z]+)+$/);
    expect(summary).toMatch(/^[A-Z][^.]+[^.]$/);
    expect(description).toMatch(/^[A-Z].+\.$/s);
    expect(tags).toHaveLength(1);
    expect(document.tags.map((tag) => tag.name)).toContain(tags?.[0]);
  });

  test("describes each of its parameters", () => {
    expect((operation.parameters ?? []).filter(({ description = "" }) => description === "")).toEqual([]);
  });

  test("has an example of its body", () => {
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
  test("describes the response to a wrong method and every other error", () => {
    expect(responses["405"]).toEqual({ $ref: "#/components/responses/MethodNotAllowed" });
    expect(responses["default"]).toEqual({ $ref: "#/components/responses/OtherProblem" });
  });

  test("describes the headers of its responses", () => {
    for (const [status, response] of Object.entries(responses)) {
      if (response.$ref !== undefined) continue;
      const names = Object.keys(response.headers ?? {});
      expect(names).toContain("X-Request-Id");
      if (status === "401") expect(names).toContain("WWW-Authenticate");
      if (status === "429" || status === "503") expect(names).toContain("Retry-After");
    }
  });
});

/** Clients were generated with these names: a route may move, and its name stays. */
const published = [
  "dispatchTask",
  "listTasks",
  "getTask",
  "cancelTask",
  "deleteTask",
  "listTaskEvents",
  "listTaskFiles",
  "downloadTaskFile",
  "listWorkspaces",
  "putWorkspaceFile",
  "deleteWorkspaceFile",
  "streamEvents",
  "createTicket",
  "listApprovals",
  "decideApproval",
  "listCallbacks",
  "redeliverCallback",
  "listAdapters",
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

test("no operationId is removed, and each is unique", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(ids).toEqual(expect.arrayContaining(published));
  expect(new Set(ids).size).toBe(ids.length);
});

test("every reference names an existing component, and every component is used", () => {
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

/** Every schema of the document, with the place where it stands. */
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

test("patterns occur only on strings, and are portable to other languages", () => {
  for (const [place, { pattern, type }] of schemasIn(document)) {
    if (typeof pattern !== "string") continue;
    expect(type, place).toBe("string");
    // A class by its property needs a flag in JavaScript and is unknown to Python; `\0` is another number in Java, `\u` unknown to Go.
    expect(pattern, place).not.toMatch(/\\[pPu0]/);
  }
});

test("responses may have unknown fields and codes", () => {
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

test("events are distinguished by their type, and each type has its own data", () => {
  const { Event: event } = document.components.schemas as Record<string, { oneOf?: unknown[]; discriminator?: { mapping: object } }>;
  expect(event).toMatchObject({ discriminator: { propertyName: "type" } });
  expect(event?.oneOf).toHaveLength(Object.keys(event?.discriminator?.mapping ?? {}).length);
  expect(event?.discriminator?.mapping).toMatchObject({ "assistant.text": "#/components/schemas/AssistantTextEvent" });
});

test("each field is described by one name, and its accepted aliases are not described", () => {
  const described = [...schemasIn(document)].flatMap(([, schema]) => Object.keys(schema));
  expect(described).toEqual(expect.arrayContaining(["bridgeInput", "timeoutSeconds", "/healthz"]));
  expect(described.filter((name) => ["bridge_input", "timeout", "/health"].includes(name))).toEqual([]);
});
