import { createHash } from "node:crypto";
import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";
import type { ExecutionResult, NormalizedTool, OutputStrategy } from "#contract";
import { checkAgainstSchema } from "./json-schema.ts";

/** The most that a file output may hold, in bytes: it travels in the result and in the callback. */
const FILE_OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

/** What the runtime is told about the form of its result; undefined when its text is the result. */
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

/** Gives an ok result the form that the dispatch asked for, or says why that cannot be done. */
export function applyOutputStrategy(strategy: OutputStrategy, result: ExecutionResult, workspace: string): ExecutionResult {
  switch (strategy.type) {
    case "stream":
      return result;
    case "file":
      return takeFile(strategy.path, result, workspace);
    case "structured":
      return takeObject(strategy.schema, result);
  }
}

/** Does the task end with calls of tools that its dispatch has declared? Its answer, and so the form of that, comes only after their results. */
export function awaitsTools({ outputs = {} }: ExecutionResult, tools: readonly NormalizedTool[] = []): boolean {
  const { toolCalls, ...others } = outputs;
  if (!Array.isArray(toolCalls) || toolCalls.length === 0 || Object.keys(others).length > 0) return false;
  return toolCalls.every((call: { toolName?: unknown } | null) => tools.some(({ name }) => name === call?.toolName));
}

function takeFile(relative: string, result: ExecutionResult, workspace: string): ExecutionResult {
  const reading = readFileInside(workspace, path.resolve(workspace, relative), FILE_OUTPUT_LIMIT_BYTES);
  if ("fault" in reading) {
    if (reading.fault === "outside") return invalid(result, `The file ${relative} leads out of the workspace by a link.`);
    if (reading.fault === "too_large")
      return { ...invalid(result, `The file ${relative} is larger than 16 MiB.`), errorCode: "output_limit" };
    return invalid(result, `The runtime did not write the file ${relative}.`);
  }
  const { content } = reading;
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { ...result, output: content.toString("utf8"), outputs: { path: relative, bytes: content.length, sha256 } };
}

/** The runtime's own structured output first, else the last JSON object of its text. */
function takeObject(schema: Record<string, unknown>, result: ExecutionResult): ExecutionResult {
  const candidate = result.outputs ?? lastJsonObject(result.output ?? "");
  if (candidate === undefined) return invalid(result, "The answer holds no JSON object.");
  const fault = checkAgainstSchema(schema, candidate);
  return fault === null ? { ...result, outputs: candidate } : invalid(result, `The answer does not fit the schema: ${fault}.`);
}

function invalid({ outputs: _, ...result }: ExecutionResult, error: string): ExecutionResult {
  return { ...result, status: "error", errorCode: "output_invalid", error };
}

const fence = /```(?:json|JSON)?[ \t]*\r?\n([\s\S]*?)```/g;
/** A text without fences is searched for objects from its end; more openings than this are not tried. */
const OPENING_LIMIT = 200;
/** Nor is more text than this parsed in all tries together: a long text whose every opening is good to its end would take a minute. */
const TRIED_LIMIT_CHARACTERS = 16 * 1024 * 1024;

/** The last JSON object of a text: in a fenced block, else the whole text, else the last one inside prose. */
export function lastJsonObject(text: string): Record<string, unknown> | undefined {
  const fenced = [...text.matchAll(fence)].map((match) => match[1] ?? "").reverse();
  for (const block of [...fenced, text]) {
    const found = parseObject(block);
    if (found !== undefined) return found;
  }
  const end = text.lastIndexOf("}");
  let widest: Record<string, unknown> | undefined;
  let tried = 0;
  for (
    let start = text.lastIndexOf("{", end), tries = 0;
    start >= 0 && tries < OPENING_LIMIT && tried < TRIED_LIMIT_CHARACTERS;
    tries += 1
  ) {
    // The same end with an earlier opening is the enclosing object.
    widest = parseObject(text.slice(start, end + 1)) ?? widest;
    tried += end + 1 - start;
    if (start === 0) break;
    start = text.lastIndexOf("{", start - 1);
  }
  return widest;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
