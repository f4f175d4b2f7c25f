import { parentPort } from "node:worker_threads";
import { MAX_MESSAGE_VALUES } from "#contract";
import { checkAgainstSchema, checkSchema } from "./json-schema.ts";
import { type FoundObject, findLastJsonObject, TooManyValuesError } from "./last-json-object.ts";

/** A schema as JSON, and optionally the result to check against it: the object that the runtime reported, as JSON, or its text. */
export interface SchemaQuestion {
  schema: string;
  result?: { outputs: string } | { output: string };
}

/** The fault, or null. `outputs`: the object found in a text. `json`: the part of the text that it was parsed from. */
export interface SchemaVerdict {
  fault: string | null;
  outputs?: Record<string, unknown> | undefined;
  json?: string | undefined;
}

/** The worker thread of `schema-checker.ts`. It returns one verdict for each question. */
parentPort?.on("message", (question: SchemaQuestion) => parentPort?.postMessage(answer(question)));

function answer({ schema: text, result }: SchemaQuestion): SchemaVerdict {
  const schema = JSON.parse(text) as Record<string, unknown>;
  if (result === undefined) return { fault: checkSchema(schema) };
  if ("outputs" in result) return { fault: checkAgainstSchema(schema, JSON.parse(result.outputs)) };
  return answerAboutText(schema, result.output);
}

function answerAboutText(schema: Record<string, unknown>, text: string): SchemaVerdict {
  let found: FoundObject | undefined;
  try {
    found = findLastJsonObject(text);
  } catch (error) {
    if (error instanceof TooManyValuesError) return { fault: `the object has more than ${MAX_MESSAGE_VALUES} values` };
    throw error;
  }
  return found === undefined
    ? { fault: null }
    : { fault: checkAgainstSchema(schema, found.object), outputs: found.object, json: found.json };
}
