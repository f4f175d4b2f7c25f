import { expect } from "vitest";

/** A document or the arguments of a function. */
type Fields = Record<string, unknown>;
/** What Convex stores of a validator. */
interface ValidatorJson {
  type: string;
  value?: unknown;
  values?: unknown;
  keys?: unknown;
}
interface Validator {
  json: ValidatorJson;
}

interface FakeFunction {
  args: Record<string, Validator & { isOptional: string }>;
  handler(context: object, args: Fields): Promise<unknown>;
}

/** A schema, with the methods of tables that Convex uses itself. */
export interface FakeSchema {
  tables: Record<string, { validator: Validator; " indexes"(): { indexDescriptor: string; fields: string[] }[] }>;
}

/** The names of functions: `internal.callbacks.take` is `callbacks:take`. */
export const internal = new Proxy({}, { get: (_, file) => new Proxy({}, { get: (__, name) => `${String(file)}:${String(name)}` }) });
export const internalAction = (definition: FakeFunction): FakeFunction => definition;
export const internalMutation = (definition: FakeFunction): FakeFunction => definition;
export const httpAction = <Handler>(handler: Handler): Handler => handler;

/** Runs functions of Convex on documents in memory. Checks arguments and documents as Convex does. */
export function createFakeConvex(files: Record<string, object>, schema: FakeSchema) {
  const tables: Record<string, Fields[]> = Object.fromEntries(Object.keys(schema.tables).map((name) => [name, []]));
  const scheduled: { name: string; args: Fields; delayMs: number }[] = [];

  async function run(name: string, given: Fields): Promise<unknown> {
    const [file = "", key = ""] = name.split(":");
    const { args: fields, handler } = (files[file] as Record<string, FakeFunction>)[key] as FakeFunction;
    const args = copy(given);
    checkFields(
      args,
      Object.fromEntries(
        Object.entries(fields).map(([field, { json, isOptional }]) => [field, { fieldType: json, optional: isOptional === "optional" }]),
      ),
      name,
    );
    return handler(context, args);
  }

  const db = {
    async insert(table: string, document: Fields): Promise<void> {
      const stored = copy(document);
      check(stored, (schema.tables[table] as FakeSchema["tables"][string]).validator.json, table);
      tables[table]?.push(stored);
    },
    query: (table: string) => ({
      withIndex(name: string, range: (index: { eq(field: string, value: unknown): [string, unknown] }) => [string, unknown]) {
        const index = schema.tables[table]?.[" indexes"]().find(({ indexDescriptor }) => indexDescriptor === name);
        const [field, value] = range({ eq: (...pair) => pair });
        expect(index?.fields).toEqual([field]);
        const found = (tables[table] ?? []).filter((document) => document[field] === value);
        expect(found.length).toBeLessThan(2);
        return { unique: async () => found[0] ?? null };
      },
    }),
  };
  const scheduler = {
    runAfter: async (delayMs: number, name: string, args: Fields) => void scheduled.push({ name, args: copy(args), delayMs }),
  };
  const context = { db, scheduler, runMutation: run };
  return { tables, scheduled, context, run };
}

/** Convex sends arguments and documents as JSON. */
const copy = (fields: Fields): Fields => JSON.parse(JSON.stringify(fields)) as Fields;

function checkFields(value: Fields, fields: Record<string, { fieldType: ValidatorJson; optional: boolean }>, place: string): void {
  expect({ place, unknown: Object.keys(value).filter((name) => !(name in fields)) }).toEqual({ place, unknown: [] });
  for (const [name, { fieldType, optional }] of Object.entries(fields))
    if (name in value || !optional) check(value[name], fieldType, `${place}.${name}`);
}

function check(value: unknown, { type, value: inner, ...rest }: ValidatorJson, place: string): void {
  if (type === "any") return;
  if (type === "object") checkFields(value as Fields, inner as Parameters<typeof checkFields>[1], place);
  else if (type === "union") expect((inner as ValidatorJson[]).map((one) => one.value)).toContain(value);
  else if (type === "record") {
    const { fieldType } = rest.values as { fieldType: ValidatorJson };
    for (const [name, member] of Object.entries(value as Fields)) check(member, fieldType, `${place}.${name}`);
  } else expect({ place, type: typeof value }).toEqual({ place, type });
}
