import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { BridgeClientError, type DispatchRequest, type FieldError } from "bridge-client";
import { readTaskFields, type TaskOptions } from "../build-dispatch.ts";
import { CommandError } from "../command-error.ts";
import { isJsonObject, parseJson } from "../parse-json.ts";
import { decodeText, readAll } from "../read-text.ts";

/** One task of a batch. */
export interface BatchTask {
  /** Number of its line in the file, beginning with 1. */
  line: number;
  request: DispatchRequest & { taskId: string };
}

/** A fault of a line. */
export interface LineFault {
  line: number;
  /** The field; empty for the line as a whole. */
  path: string;
  message: string;
}

/** More tasks belong into several files. */
const MAX_LINES = 100_000;
/** Further faults are only counted. */
const MAX_SHOWN_FAULTS = 20;
/** Ids of tasks have at most 128 characters. */
const MAX_PREFIX = 100;
const HASH_LENGTH = 16;

/** Reads the tasks of a file with one JSON object per line; `-` is stdin. Throws an error that lists all faulty lines. */
export async function readBatch(file: string, options: TaskOptions, stdin: NodeJS.ReadStream): Promise<BatchTask[]> {
  const lines = (await readText(file, stdin)).split("\n").map((text, index) => ({ text: text.trim(), line: index + 1 }));
  const used = lines.filter(({ text }) => text !== "");
  if (used.length === 0) throw new CommandError("usage", `--from: ${file} contains no task.`, { hint: "Write one JSON object per line." });
  if (used.length > MAX_LINES)
    throw new CommandError("usage", `--from: ${file} has ${used.length} tasks; at most ${MAX_LINES} are possible.`);
  const defaults = readTaskFields(options);
  const chooseId = createIds(options.id ?? prefixOf(file));
  const faults: LineFault[] = [];
  const lineOfId = new Map<string, number>();
  const tasks: BatchTask[] = [];
  for (const { text, line } of used) {
    const parsed = parseLine(text);
    if (typeof parsed === "string") {
      faults.push({ line, path: "", message: parsed });
      continue;
    }
    const fields = { ...(options.agent !== undefined && { agentId: options.agent }), ...defaults, ...parsed } as DispatchRequest;
    const taskId = fields.taskId ?? chooseId(fields);
    const earlier = lineOfId.get(taskId);
    if (earlier !== undefined)
      faults.push({ line, path: "taskId", message: `is also the id of line ${earlier}; got ${JSON.stringify(taskId)}` });
    lineOfId.set(taskId, line);
    tasks.push({ line, request: { ...fields, taskId } });
  }
  rejectFaults(faults, file);
  return tasks;
}

/** Throws an error that lists the faults, unless there are none. */
export function rejectFaults(faults: readonly LineFault[], file: string): void {
  if (faults.length === 0) return;
  const shown = faults.toSorted((one, other) => one.line - other.line).slice(0, MAX_SHOWN_FAULTS);
  const errors = shown.map(
    ({ line, path: field, message }): FieldError => ({ path: field === "" ? `line ${line}` : `line ${line}, ${field}`, message }),
  );
  const more = faults.length > shown.length ? ` The first ${shown.length} are listed.` : "";
  throw new BridgeClientError("invalid_request", `${file} has ${faults.length} fault(s), so nothing was dispatched.${more}`, {
    status: 400,
    errors,
  });
}

async function readText(file: string, stdin: NodeJS.ReadStream): Promise<string> {
  if (file === "-") return readAll(stdin);
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new CommandError("usage", `--from cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return decodeText(bytes, file);
}

/** Returns the object of a line, or what is wrong with the line. */
function parseLine(text: string): object | string {
  try {
    const value: unknown = parseJson(text);
    if (isJsonObject(value)) return value;
    return 'must be a JSON object, for example {"agentId":"auditor","message":"Count the files."}';
  } catch (error) {
    return `is not valid JSON: ${(error as Error).message}. A task must be on one line.`;
  }
}

const prefixOf = (file: string): string =>
  (file === "-"
    ? "batch"
    : path
        .parse(file)
        .name.replaceAll(/[^A-Za-z0-9_-]+/g, "-")
        .slice(0, MAX_PREFIX)) || "batch";

/** Creates ids that depend only on the prefix and on the task, so that they stay the same when other lines change. */
function createIds(prefix: string): (fields: DispatchRequest) => string {
  const counts = new Map<string, number>();
  return (fields) => {
    const id = `${prefix}-${createHash("sha256").update(JSON.stringify(fields)).digest("hex").slice(0, HASH_LENGTH)}`;
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    // Equal lines are different tasks.
    return count === 1 ? id : `${id}-${count}`;
  };
}
