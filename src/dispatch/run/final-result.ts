import type { ExecutionResult, TaskErrorCode } from "#contract";
import type { SchemaChecker } from "../../requests/schema-checker.ts";
import { applyOutputStrategy, awaitsTools } from "../../results/output-strategy.ts";
import type { Task } from "../../task.ts";
import type { PreparedRun } from "./prepare-run.ts";
import { withoutDust } from "./spent.ts";

/** Creates the result of a task that failed in Bridge itself. */
export type CreateFailure = (errorCode: TaskErrorCode, error: string) => ExecutionResult;

/** Gives a result of a runtime the form that the dispatch asks for. `prepared` is null if the runtime did not start. */
export async function toFinalResult(
  task: Task,
  result: ExecutionResult,
  { prepared, schemas, createFailure }: { prepared: PreparedRun | null; schemas: SchemaChecker; createFailure: CreateFailure },
): Promise<ExecutionResult> {
  if (result.status === "error") return result.errorCode === undefined ? { ...result, errorCode: "adapter_error" } : result;
  if (prepared === null || awaitsTools(result, prepared.request.tools)) return result;
  const { workspace } = prepared.request.directories;
  try {
    const source = { tenant: task.tenant, workspace, schemas, fileBefore: prepared.outputFile };
    return await applyOutputStrategy(task.request.outputStrategy, result, source);
  } catch (error) {
    return createFailure("output_invalid", describeFault(error));
  }
}

/** Rounds the numbers of a result, and names the source of its cost. */
export function withRoundNumbers({ durationMs, costUsd, costSource = "runtime", ...result }: ExecutionResult): ExecutionResult {
  const cost = costUsd !== undefined && { costUsd: withoutDust(costUsd), costSource };
  return { ...result, durationMs: Math.round(durationMs), ...cost };
}

/**
 * Returns the text of the assistant's last message, not the content of a requested file. An object that the runtime reports separately is
 * its JSON text.
 */
export function answerOf({ request }: Task, reported: ExecutionResult, final: ExecutionResult): string {
  const isSeparate = request.outputStrategy.type === "structured" && reported.outputs !== undefined;
  return (isSeparate ? final.output : reported.output) ?? "";
}

/** Describes a fault of the workspace without the paths that system errors contain. */
export function describeFault(error: unknown): string {
  if (error instanceof Error && "syscall" in error && "code" in error) return `The workspace cannot be used (${String(error.code)}).`;
  return error instanceof Error ? error.message : String(error);
}
