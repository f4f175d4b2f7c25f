import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { DispatchFile, DispatchRequest } from "bridge-client";
import { CommandError } from "./command-error.ts";
import { isJsonObject, parseJson } from "./parse-json.ts";
import { decodeText } from "./read-text.ts";

/** Options of `dispatch` that describe the task. */
export interface TaskOptions {
  agent?: string;
  provider?: string;
  model?: string;
  profile?: "inspect" | "modify";
  approvals?: "ask" | "deny" | "allow";
  timeout?: number;
  maxCost?: number;
  maxTokens?: number;
  onReached?: "stop" | "ask";
  fallback?: string[];
  retry?: number;
  whenLimited?: "fail" | "wait";
  label?: Record<string, string>;
  schema?: string;
  file?: string[];
  id?: string;
  callback?: string;
  resume?: string;
  /** JSON. */
  metadata?: string;
  systemPrompt?: string;
  cwd?: string;
  repo?: { name: string; ref?: string };
  branch?: string;
  keep?: "branch" | "diff" | "none";
  push?: boolean;
  /** Any fields of the API. */
  field?: Record<string, unknown>;
}

/** The options that set fields of a dispatch, for messages about these fields. */
export const optionOfField: Readonly<Record<string, string>> = {
  agentId: "--agent",
  provider: "--provider",
  model: "--model",
  profile: "--profile",
  approvals: "--approvals",
  timeoutSeconds: "--timeout",
  budget: "--max-cost",
  "budget.maxTokens": "--max-tokens",
  "budget.onReached": "--on-reached",
  fallbacks: "--fallback",
  retry: "--retry",
  whenLimited: "--when-limited",
  labels: "--label",
  outputSchema: "--schema",
  files: "--file",
  taskId: "--id",
  callbackUrl: "--callback",
  resumeToken: "--resume",
  metadata: "--metadata",
  systemPrompt: "--system-prompt",
  repository: "--repo",
  "repository.branch": "--branch",
  "repository.keep": "--keep",
  "repository.push": "--push",
};

/** Creates the dispatch that the options describe. It always has an id, so that it can be repeated safely. */
export function buildDispatch(options: TaskOptions, message: string): DispatchRequest & { taskId: string } {
  const { agent, id } = options;
  if (agent === undefined)
    throw new CommandError("usage", "--agent is missing.", { hint: 'For example: brg dispatch --agent auditor "Count the files."' });
  return { ...readTaskFields(options), taskId: id ?? randomUUID(), agentId: agent, message };
}

/** Returns the fields of a dispatch that the options set, except its id and its agent. */
export function readTaskFields(options: TaskOptions): Partial<DispatchRequest> {
  const { provider, model, profile, approvals, timeout, label, schema, file, callback, resume, metadata, systemPrompt, cwd } = options;
  const { maxCost: maxCostUsd, maxTokens, onReached, whenLimited } = options;
  const fields: Partial<DispatchRequest> = {
    ...{ resumeToken: resume, systemPrompt: systemPrompt === undefined ? undefined : readText("--system-prompt", systemPrompt) },
    ...((metadata !== undefined || cwd !== undefined) && {
      metadata: { ...(metadata !== undefined && readObject("--metadata", metadata)), ...(cwd !== undefined && { cwd }) },
    }),
    ...{ provider, model, profile, approvals, timeoutSeconds: timeout, labels: label, callbackUrl: callback, whenLimited },
    ...((maxCostUsd !== undefined || maxTokens !== undefined || onReached !== undefined) && {
      budget: { maxCostUsd, maxTokens, onReached },
    }),
    ...(options.fallback !== undefined && { fallbacks: options.fallback.map(readFallback) }),
    ...(options.retry !== undefined && { retry: { max: options.retry, on: ["rate_limited", "model_error"] } }),
    ...(schema !== undefined && { outputSchema: readObject("--schema", schema) }),
    ...(file !== undefined && { files: file.map(readFile) }),
    ...{ repository: readRepository(options) },
    ...options.field,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function readRepository({ repo, branch, keep, push }: TaskOptions): DispatchRequest["repository"] {
  const others = Object.entries({ branch, keep, push }).filter(([, value]) => value !== undefined);
  if (repo !== undefined) return { ...repo, ...Object.fromEntries(others) };
  const [option] = others[0] ?? [];
  if (option === undefined) return undefined;
  throw new CommandError("usage", `--${option} needs --repo.`, { hint: "Name the repository, for example with: --repo web" });
}

/** Reads `provider[=model]`. */
function readFallback(text: string): { provider: string; model?: string } {
  const [provider = "", ...model] = text.split("=");
  return { provider, ...(model.length > 0 && { model: model.join("=") }) };
}

/** Returns a text, or with @ the content of a file. */
const readText = (flag: string, text: string): string =>
  text.startsWith("@") ? decodeText(readBytes(flag, text.slice(1)), text.slice(1)) : text;

function readObject(flag: string, text: string): Record<string, unknown> {
  const source = readText(flag, text);
  try {
    const value: unknown = parseJson(source);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw new CommandError("usage", `${flag} is not valid JSON: ${(error as Error).message}`, {
      hint: "Give a JSON object, or @ and the name of a file that contains it.",
    });
  }
  throw new CommandError("usage", `${flag} must be a JSON object.`);
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
