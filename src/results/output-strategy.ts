import { hash } from "node:crypto";
import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";
import type { ExecutionResult, NormalizedTool, OutputStrategy } from "#contract";
import type { SchemaChecker } from "../requests/schema-checker.ts";

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

/** Where a result comes from, and who checks it. */
export interface OutputSource {
  tenant: string;
  workspace: string;
  schemas: Pick<SchemaChecker, "findObject">;
}

/** Gives an ok result the form that the dispatch asked for, or says why that cannot be done. */
export async function applyOutputStrategy(
  strategy: OutputStrategy,
  result: ExecutionResult,
  { tenant, workspace, schemas }: OutputSource,
): Promise<ExecutionResult> {
  switch (strategy.type) {
    case "stream":
      return result;
    case "file":
      return takeFile(strategy.path, result, workspace);
    case "structured":
      return takeObject(await schemas.findObject(tenant, strategy.schema, result), result);
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
  const sha256 = hash("sha256", content);
  return { ...result, output: content.toString("utf8"), outputs: { path: relative, bytes: content.length, sha256 } };
}

/** `output` becomes the JSON text of the object alone: the text around it stays in the conversation. */
function takeObject({ outputs, json, fault }: Awaited<ReturnType<SchemaChecker["findObject"]>>, result: ExecutionResult): ExecutionResult {
  if (fault !== null) return invalid(result, `The answer does not fit the schema: ${fault}.`);
  if (outputs === undefined || json === undefined) return invalid(result, "The answer holds no JSON object.");
  return { ...result, output: json, outputs };
}

function invalid({ outputs: _, ...result }: ExecutionResult, error: string): ExecutionResult {
  return { ...result, status: "error", errorCode: "output_invalid", error };
}
