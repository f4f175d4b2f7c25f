import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** The parts of an OpenAPI document that describe what a route may answer. */
interface Description {
  paths: Record<string, Record<string, { responses: Record<string, Answer | Reference> }>>;
  components: { responses?: Record<string, Answer>; headers?: Record<string, Header>; schemas?: Record<string, object> };
}

interface Reference {
  $ref: string;
}

interface Answer {
  headers?: Record<string, Header | Reference>;
  content?: Record<string, { schema: object }>;
}

interface Header {
  required?: boolean;
  schema: { type?: string };
}

/** An answer as it came; `text` is needed for event streams alone. */
interface LiveAnswer {
  status: number;
  headers: Headers;
  body: unknown;
  text?: string;
}

/** What HTTP itself and bugs can answer to any request; described once, as the default of every route. */
const generic: ReadonlySet<number> = new Set([400, 431, 500]);

/** Headers of HTTP, of its connections and of the browser's protection, which no route describes. */
const ofHttp =
  /^(access-control-.*|cache-control|connection|content-(length|type|security-policy)|cross-origin-.*|date|keep-alive|origin-agent-cluster|referrer-policy|strict-transport-security|transfer-encoding|upgrade|vary|x-(accel-buffering|content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/;

/** A request counts before it is read, so that other refusals of a POST carry these headers, too; they are described where a client needs them. */
const ofRateLimit = /^x-ratelimit-/;

/** Holds every answer against the description of the API: a documented status, its headers, and a body that fits its schema. */
export function createResponseCheck(given: Description) {
  const description = closeSchemas(given);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validators = new Map<object, ValidateFunction>();
  const templates = Object.keys(description.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace("{path}", ".+").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  }));

  function resolve<Value extends object>(value: Value | Reference): Value {
    if (!("$ref" in value)) return value;
    const steps = value.$ref.split("/").slice(1);
    return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], description) as Value;
  }

  function checkHeaders({ headers: described = {} }: Answer, { headers, status }: LiveAnswer, place: string): void {
    const names = new Set(Object.keys(described).map((name) => name.toLowerCase()));
    for (const [name, reference] of Object.entries(described)) {
      const { required, schema } = resolve(reference);
      const value = headers.get(name);
      if (required === true) expect([...headers.keys()], place).toContain(name.toLowerCase());
      if (value !== null && schema.type === "integer") expect(value, `${place} ${name}`).toMatch(/^\d+$/);
    }
    const isRefused = status >= 400 && status !== 429;
    const isExpected = (name: string) => names.has(name) || ofHttp.test(name) || (isRefused && ofRateLimit.test(name));
    const others = [...headers.keys()].filter((name) => !isExpected(name));
    expect(others, `${place}: headers that are not described`).toEqual([]);
  }

  function checkBody(schema: object, body: unknown, place: string): void {
    const validate = validators.get(schema) ?? ajv.compile({ ...schema, components: description.components });
    validators.set(schema, validate);
    validate(body);
    expect(validate.errors, place).toBeNull();
  }

  return (method: string, target: string, answer: LiveAnswer): void => {
    const path = target.split("?")[0] ?? "";
    const found = templates.find(({ template }) => template === path) ?? templates.find(({ pattern }) => pattern.test(path));
    const operations = description.paths[found?.template ?? ""];
    // A method without a description is described by the 405 of the others.
    const operation = operations?.[method.toLowerCase()] ?? (answer.status === 405 ? Object.values(operations ?? {})[0] : undefined);
    if (operations === undefined || operation === undefined) return;
    const place = `${method} ${found?.template} ${answer.status}`;
    const status = operation.responses[answer.status] === undefined && generic.has(answer.status) ? "default" : String(answer.status);
    expect(Object.keys(operation.responses), place).toContain(status);
    if (answer.status === 405) {
      const allowed = answer.headers.get("allow")?.split(", ") ?? [];
      expect(allowed, place).toEqual(expect.arrayContaining(Object.keys(operations).map((name) => name.toUpperCase())));
      expect(allowed, place).not.toContain(method);
    }
    const response = resolve(operation.responses[status] ?? {});
    checkHeaders(response, answer, place);
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    if (response.content === undefined) {
      expect(answer.body, place).toBeUndefined();
      return;
    }
    expect(Object.keys(response.content), place).toContain(type);
    const schema = response.content[type]?.schema;
    if (schema === undefined) return;
    if (type === "text/event-stream") for (const data of eventsOf(answer.text ?? "")) checkBody(schema, data, place);
    else if (answer.body !== undefined) checkBody(schema, answer.body, place);
  };
}

/** The data of each server-sent event of a stream that has ended. */
const eventsOf = (text: string): unknown[] => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));

/** Clients must accept more than is described, but Bridge itself sends nothing else: no other field, and no other value of a list that can grow. */
function closeSchemas<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closeSchemas) as Value;
  if (typeof value !== "object" || value === null) return value;
  const closed = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closeSchemas(part)]));
  if (closed["type"] === "object" && typeof closed["properties"] === "object") closed["additionalProperties"] ??= false;
  const [known, any, ...more] = (closed["anyOf"] ?? []) as ({ enum?: unknown } | undefined)[];
  if (known?.enum !== undefined && any !== undefined && Object.keys(any).join() === "type" && more.length === 0) closed["anyOf"] = [known];
  return closed as Value;
}
