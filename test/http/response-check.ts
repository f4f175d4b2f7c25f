import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** The parts of an OpenAPI document that describe responses. */
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

/** A received response; `text` is needed only for event streams. */
interface LiveAnswer {
  status: number;
  headers: Headers;
  body: unknown;
  text?: string;
}

/** Status codes of invalid HTTP and of bugs, which the default response of every route describes. */
const generic: ReadonlySet<number> = new Set([400, 431, 500]);

/** Headers of HTTP, of connections and of browser security, which no route describes. */
const ofHttp =
  /^(access-control-.*|cache-control|connection|content-(length|type|security-policy)|cross-origin-.*|date|keep-alive|origin-agent-cluster|referrer-policy|strict-transport-security|transfer-encoding|upgrade|vary|x-(accel-buffering|content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/;

/**
 * Requests count before they are validated, so error responses to a POST have these headers too. They are documented only where clients
 * need them.
 */
const ofRateLimit = /^x-ratelimit-/;

/** Creates the check that a response has a documented status, the documented headers, and a body that matches its schema. */
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
    // For undocumented methods, the 405 of the documented ones applies.
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

/** Parses the data of each server-sent event of an ended stream. */
const eventsOf = (text: string): unknown[] => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));

/** Closes open schemas: clients must accept unknown fields and enum values, but Bridge must not send any. */
function closeSchemas<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closeSchemas) as Value;
  if (typeof value !== "object" || value === null) return value;
  const closed = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closeSchemas(part)]));
  if (closed["type"] === "object" && typeof closed["properties"] === "object") closed["additionalProperties"] ??= false;
  const [known, any, ...more] = (closed["anyOf"] ?? []) as ({ enum?: unknown; type?: unknown } | undefined)[];
  const isAnyText = any !== undefined && Object.keys(any).join() === "type" && any.type === "string";
  if (known?.enum !== undefined && isAnyText && more.length === 0) closed["anyOf"] = [known];
  return closed as Value;
}
