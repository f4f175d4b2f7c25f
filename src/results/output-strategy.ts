import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { type BigIntStats, statSync } from "node:fs";
import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";
import type { ExecutionResult, NormalizedTool, OutputStrategy } from "#contract";
import type { SchemaChecker } from "../requests/schema-checker.ts";

/** Maximum size of a file output. The result and the callback contain it. */
const FILE_OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

/** Returns the instructions for the runtime about the form of its result; undefined if the result is the text of its answer. */
export function outputInstructions(strategy: OutputStrategy): string | undefined {
  switch (strategy.type) {
    case "stream":
      return undefined;
    case "file":
      return `Write the result to the file ${JSON.stringify(strategy.path)}, relative to the root of the workspace.`;
    case "structured":
      return `End your answer with one JSON object in a \`\`\`json block that is valid against this JSON Schema:\n${JSON.stringify(strategy.schema)}`;
  }
}

/** The state of a file, which every write changes; null if the file does not exist. */
export type FileState = Pick<BigIntStats, "ino" | "size" | "ctimeNs"> | null;

/** Returns the state of the file of a file output; null for other strategies. */
export function stateOfOutputFile(strategy: OutputStrategy, workspace: string): FileState {
  if (strategy.type !== "file") return null;
  try {
    return statSync(path.resolve(workspace, strategy.path), { bigint: true });
  } catch {
    return null;
  }
}

/** The origin of a result, and the checker of its schema. */
export interface OutputSource {
  tenant: string;
  workspace: string;
  schemas: SchemaChecker;
  /** The state of the file of a file output before the runtime started. */
  fileBefore: FileState;
}

/** Converts a successful result to the form that the dispatch asks for. If that fails, returns an error result with the reason. */
export async function applyOutputStrategy(
  strategy: OutputStrategy,
  result: ExecutionResult,
  { tenant, workspace, schemas, fileBefore }: OutputSource,
): Promise<ExecutionResult> {
  switch (strategy.type) {
    case "stream":
      return result;
    case "file":
      return isSameFile(fileBefore, stateOfOutputFile(strategy, workspace))
        ? createInvalidOutput(result, `The runtime did not write the file ${strategy.path}. Its content is from before the task.`)
        : readFileOutput(strategy.path, result, workspace);
    case "structured":
      return readObjectOutput(await schemas.findObject(tenant, strategy.schema, result), result);
  }
}

/**
 * Whether the task ends with calls of tools that its dispatch declared. Its final output then comes in a later task, with the results of
 * the calls.
 */
export function awaitsTools({ outputs = {} }: ExecutionResult, tools: readonly NormalizedTool[] = []): boolean {
  const { toolCalls, ...others } = outputs;
  if (!Array.isArray(toolCalls) || toolCalls.length === 0 || Object.keys(others).length > 0) return false;
  return toolCalls.every((call: { toolName?: unknown } | null) => tools.some(({ name }) => name === call?.toolName));
}

/** Compares what every write changes, instead of times, because clocks can be set back. */
function isSameFile(before: FileState, after: FileState): boolean {
  return before !== null && before.ino === after?.ino && before.size === after.size && before.ctimeNs === after.ctimeNs;
}

function readFileOutput(relative: string, result: ExecutionResult, workspace: string): ExecutionResult {
  const file = readFileInside(workspace, path.resolve(workspace, relative), FILE_OUTPUT_LIMIT_BYTES);
  if ("fault" in file) {
    if (file.fault === "outside") return createInvalidOutput(result, `The file ${relative} leads out of the workspace through a link.`);
    if (file.fault === "too_large")
      return { ...createInvalidOutput(result, `The file ${relative} is larger than 16 MiB.`), errorCode: "output_limit" };
    return createInvalidOutput(result, `The runtime did not write the file ${relative}.`);
  }
  const { content } = file;
  const sha256 = hash("sha256", content);
  const outputs = { path: relative, bytes: content.length, sha256 };
  // Text would lose the bytes that are not UTF-8.
  if (!isUtf8(content)) return { ...result, output: content.toString("base64"), outputs: { ...outputs, encoding: "base64" } };
  return { ...result, output: content.toString("utf8"), outputs };
}

/** `output` becomes the JSON text of the object only. The conversation keeps the text around it. */
function readObjectOutput(
  { outputs, json, fault }: Awaited<ReturnType<SchemaChecker["findObject"]>>,
  result: ExecutionResult,
): ExecutionResult {
  if (fault !== null) return createInvalidOutput(result, `The output does not match the schema: ${fault}.`);
  if (outputs === undefined || json === undefined) return createInvalidOutput(result, "The output contains no JSON object.");
  return { ...result, output: json, outputs };
}

function createInvalidOutput({ outputs: _, ...result }: ExecutionResult, error: string): ExecutionResult {
  return { ...result, status: "error", errorCode: "output_invalid", error };
}
