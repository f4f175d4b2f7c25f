import type { ExecutionRequest } from "#contract";
import { decodeFile } from "../../requests/dispatch-files.ts";
import { type FileState, stateOfOutputFile } from "../../results/output-strategy.ts";
import type { Task } from "../../task.ts";
import { readAgentFile, readPromptFiles } from "../../workspaces/prompt-files.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import { writeWorkspaceFile } from "../../workspaces/write-workspace-file.ts";
import { buildExecutionRequest } from "./build-execution-request.ts";

interface PrepareOptions {
  workspaces: Workspaces;
  traceparent: string | null;
  /** Whether the task was stopped meanwhile. No further file is written then. */
  isStopped(): boolean;
  /** Whether the model of agent.json is meant, which is one of the adapter that the dispatch, or agent.json, names. */
  usesAgentModel: boolean;
}

/** What a runtime needs. `outputFile` is the file of the output strategy before the runtime starts. */
export interface PreparedRun {
  request: ExecutionRequest;
  outputFile: FileState;
}

/** Writes the files of the dispatch, creates the directories of the task, and builds the request for its adapter. */
export async function prepareRun(task: Task, { workspaces, traceparent, isStopped, usesAgentModel }: PrepareOptions): Promise<PreparedRun> {
  if (task.request.files !== undefined) {
    const workspace = workspaces.makeWorkspace(task);
    // Replaces each file as a whole, so a task that runs again after a restart finds them unchanged.
    for (const file of task.request.files) if (!isStopped()) await writeWorkspaceFile(workspace, file.path.split("/"), decodeFile(file));
  }
  const directories = workspaces.prepare(task, task.request.metadata?.["cwd"] as string | undefined);
  const { workspace } = directories;
  // If the task runs again, its earlier run may have written the file, so that a file that this run does not change is accepted.
  const outputFile = task.restarts > 0 ? null : stateOfOutputFile(task.request.outputStrategy, workspace);
  const { model, ...others } = readAgentFile(workspace);
  const agent = { ...others, ...(usesAgentModel && model !== undefined && { model }) };
  const parts = { promptFiles: readPromptFiles(workspace), agent, directories, traceparent };
  return { request: buildExecutionRequest(task, parts), outputFile };
}
