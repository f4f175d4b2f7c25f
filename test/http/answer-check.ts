import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** The parts of an OpenAPI document that say what a route may answer. */
interface Description {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: object;
}

interface Response {
  headers?: Record<string, { schema: object }>;
  content?: Record<string, { schema: object }>;
}

/** What HTTP itself may have against any request; not repeated at every route. */
const generic: ReadonlySet<number> = new Set([400, 431]);

/** Holds every answer against the description of the API: a documented status, its headers, and a body that fits its schema. */
export function createAnswerCheck(description: Description) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validators = new Map<object, ValidateFunction>();
  const templates = Object.keys(description.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  }));

  return (method: string, target: string, answer: { status: number; headers: Headers; body: unknown }): void => {
    const path = target.split("?")[0] ?? "";
    const found = templates.find(({ template }) => template === path) ?? templates.find(({ pattern }) => pattern.test(path));
    const operation = description.paths[found?.template ?? ""]?.[method.toLowerCase()];
    if (operation === undefined) return;
    const response = operation.responses[answer.status];
    if (response === undefined && generic.has(answer.status)) return;
    const place = `${method} ${found?.template} ${answer.status}`;
    expect(Object.keys(operation.responses), place).toContain(String(answer.status));
    for (const [name, { schema }] of Object.entries(response?.headers ?? {})) {
      expect(schema, place).toEqual({ type: "string" });
      expect([...answer.headers.keys()], place).toContain(name);
    }
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    if (response?.content === undefined) {
      expect(answer.body, place).toBeUndefined();
      return;
    }
    expect(Object.keys(response.content), place).toContain(type);
    const content = response.content[type];
    if (content === undefined || answer.body === undefined) return;
    const validate = validators.get(content.schema) ?? ajv.compile({ ...content.schema, components: description.components });
    validators.set(content.schema, validate);
    validate(answer.body);
    expect(validate.errors, place).toBeNull();
  };
}
