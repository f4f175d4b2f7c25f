import { z } from "zod";
import { isJsonObject } from "#contract";
import { MAX_FIELD_ERRORS } from "../errors.ts";

/** A pattern, and the error message for text that does not match it. */
type Rule = readonly [pattern: RegExp, message: string];

/** A JSON object with any members. It is passed through by reference, because a zod record copies it and takes 2 µs per member. */
export const jsonObject = z
  .custom<Record<string, unknown>>(isJsonObject, {
    error: ({ input }) => (input === undefined ? "is required (object)" : "must be an object"),
  })
  .meta({ override: { type: "object", additionalProperties: {} } });

/** Returns the schema of an array whose length is checked before its entries. `form` describes the array in the error for another type. */
export function listOf<Entry>(maximum: number, entry: z.ZodType<Entry>, form = "an array") {
  return createCheckedSchema<unknown[]>((value, refuse) => void refuseLongArray(value, maximum, refuse, form)).pipe(z.array(entry));
}

/** Returns the schema of an array of strings that match a rule. */
export function textList(maximum: number, rule: Rule) {
  const list = createCheckedSchema<string[]>((value, refuse) => {
    if (refuseLongArray(value, maximum, refuse)) return;
    for (const [index, text] of value.entries()) refuseText(text, rule, (message) => refuse(message, [index]));
  });
  return list.meta({ override: { type: "array", items: describe(rule), maxItems: maximum } });
}

/** Returns the schema of an object whose names and string values each match a rule. */
export function textRecord(maximum: number, { name: nameRule, text: textRule }: { name: Rule; text: Rule }) {
  const record = createCheckedSchema<Record<string, string>>((value, refuse) => {
    if (!isJsonObject(value)) return refuse("must be an object");
    const names = Object.keys(value);
    if (names.length > maximum) return refuse(`must have at most ${maximum} members; got ${names.length}`);
    for (const name of names) {
      const refuseMember = (message: string) => refuse(message, [name]);
      if (!refuseText(name, nameRule, refuseMember)) refuseText(value[name], textRule, refuseMember);
    }
  });
  return record.meta({
    override: { type: "object", propertyNames: describe(nameRule), additionalProperties: describe(textRule), maxProperties: maximum },
  });
}

const describe = ([pattern]: Rule) => ({ type: "string", pattern: pattern.source }) as const;

type Refuse = (message: string, path?: PropertyKey[]) => void;

/** Creates the schema of a value that a function checks. Faults beyond the maximum number are dropped. */
function createCheckedSchema<Value>(check: (value: Value, refuse: Refuse) => void): z.ZodType<Value> {
  const schema = z.unknown().check(({ value, issues }) =>
    check(value as Value, (message, path = []) => {
      if (issues.length < MAX_FIELD_ERRORS) issues.push({ code: "custom", input: undefined, path, message });
    }),
  );
  return schema as z.ZodType<Value>;
}

function refuseLongArray(value: unknown, maximum: number, refuse: Refuse, form = "an array"): boolean {
  if (!Array.isArray(value)) refuse(`must be ${form}`);
  else if (value.length > maximum) refuse(`must have at most ${maximum} entries; got ${value.length}`);
  else return false;
  return true;
}

function refuseText(text: unknown, [pattern, message]: Rule, refuse: (message: string) => void): boolean {
  if (typeof text === "string" && pattern.test(text)) return false;
  refuse(typeof text === "string" ? message : "must be a string");
  return true;
}
