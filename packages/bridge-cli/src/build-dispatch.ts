import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { DispatchFile, DispatchRequest } from "bridge-client";
import { CommandError } from "./command-error.ts";
import { parseJson } from "./parse-json.ts";
import { decodeText } from "./read-text.ts";

/** Options of `dispatch` that describe the task. */
export interface TaskOptions {
  agent?: string;
  provider?: string;
  model?: string;
  profile?: "inspect" | "modify";
  approvals?: "ask" | "deny" | "allow";
  timeout?: number;
  label?: Record<string, string>;
  schema?: string;
  file?: string[];
  id?: string;
  callback?: string;
}

/** The options that set fields of a dispatch, for messages about these fields. */
export const optionOfField: Readonly<Record<string, string>> = {
  agentId: "--agent",
  provider: "--provider",
  model: "--model",
  profile: "--profile",
  approvals: "--approvals",
  timeoutSeconds: "--timeout",
  labels: "--label",
  outputSchema: "--schema",
  files: "--file",
  taskId: "--id",
  callbackUrl: "--callback",
};

/** Creates the dispatch that the options describe. It always has an id, so that it can be repeated safely. */
export function buildDispatch(options: TaskOptions, message: string): DispatchRequest & { taskId: string } {
  const { agent, id } = options;
  if (agent === undefined)
    throw new CommandError("usage", "--agent is missing.", { hint: 'For example: bridge dispatch --agent auditor "Count the files."' });
  return { ...readTaskFields(options), taskId: id ?? randomUUID(), agentId: agent, message };
}

/** Returns the fields of a dispatch that the options set, except its id and its agent. */
export function readTaskFields(options: TaskOptions): Partial<DispatchRequest> {
  const { provider, model, profile, approvals, timeout, label, schema, file, callback } = options;
  const fields: Partial<DispatchRequest> = {
    ...{ provider, model, profile, approvals, timeoutSeconds: timeout, labels: label, callbackUrl: callback },
    ...(schema !== undefined && { outputSchema: readSchema(schema) }),
    ...(file !== undefined && { files: file.map(readFile) }),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function readSchema(text: string): Record<string, unknown> {
  const source = text.startsWith("@") ? decodeText(readBytes("--schema", text.slice(1)), text.slice(1)) : text;
  try {
    const schema: unknown = parseJson(source);
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema as Record<string, unknown>;
  } catch (error) {
    throw new CommandError("usage", `--schema is not valid JSON: ${(error as Error).message}`, {
      hint: "Give a JSON Schema, or @ and the name of a file that contains it.",
    });
  }
  throw new CommandError("usage", "--schema must be a JSON object.");
}

/** Reads `[path=]file`. Without a path, a file below the current directory keeps its path, and any other one its name. */
function readFile(text: string): DispatchFile {
  const [, target, file = text] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const bytes = readBytes("--file", file);
  const relative = path.normalize(file);
  const isBelow = !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
  const place = target ?? (isBelow ? relative.split(path.sep).join("/") : path.basename(file));
  return isUtf8(bytes)
    ? { path: place, content: bytes.toString("utf8") }
    : { path: place, content: bytes.toString("base64"), encoding: "base64" };
}

function readBytes(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError("usage", `${flag} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
