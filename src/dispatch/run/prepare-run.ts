import type { ExecutionRequest } from "#contract";
import { decodeFile } from "../../requests/dispatch-files.ts";
import { type FileState, stateOfOutputFile } from "../../results/output-strategy.ts";
import type { Task } from "../../task.ts";
import { readAgentFile, readPromptFiles } from "../../workspaces/prompt-files.ts";
import { resolveFileInside, type Workspaces } from "../../workspaces/workspace-directories.ts";
import { writeWorkspaceFile } from "../../workspaces/write-workspace-file.ts";
import { buildExecutionRequest } from "./build-execution-request.ts";

interface PrepareOptions {
  workspaces: Workspaces;
  traceparent: string | null;
  /** Whether the task was stopped meanwhile. No further file is written then. */
  isStopped(): boolean;
  /** Whether the model of agent.json is meant, which is one of the adapter that the dispatch, or agent.json, names. */
  usesAgentModel: boolean;
  /** Opens the work tree in which the task runs; null if it runs in the workspace of its agent. */
  openTree: (() => Promise<string>) | null;
}

/** What a runtime needs. `outputFile` is the file of the output strategy before the runtime starts. */
export interface PreparedRun {
  request: ExecutionRequest;
  outputFile: FileState;
}

/** Writes the files of the dispatch, creates the directories of the task, and builds the request for its adapter. */
export async function prepareRun(task: Task, options: PrepareOptions): Promise<PreparedRun> {
  const { workspaces, traceparent, isStopped, usesAgentModel, openTree } = options;
  const tree = openTree === null ? null : await openTree();
  if (task.request.files !== undefined) {
    const workspace = tree ?? workspaces.makeWorkspace(task);
    // Replaces each file as a whole, so a task that runs again after a restart finds them unchanged.
    for (const file of task.request.files) if (!isStopped()) await writeWorkspaceFile(workspace, file.path.split("/"), decodeFile(file));
  }
  const directories = workspaces.prepare(task, task.request.metadata?.["cwd"] as string | undefined, tree);
  const { workspace } = directories;
  const { outputStrategy } = task.request;
  if (tree !== null && outputStrategy.type === "file") resolveFileInside(tree, outputStrategy.path);
  // If the task runs again, its earlier run may have written the file, so that a file that this run does not change is accepted.
  const outputFile = task.restarts > 0 ? null : stateOfOutputFile(outputStrategy, workspace);
  // The agent has its prompt files in its workspace, also if the task runs in a work tree.
  const home = tree === null ? workspace : workspaces.workspaceOf(task.tenant, task.agentId);
  const { model, ...others } = readAgentFile(home);
  const agent = { ...others, ...(usesAgentModel && model !== undefined && { model }) };
  const parts = { promptFiles: readPromptFiles(home), agent, directories, traceparent };
  return { request: buildExecutionRequest(task, parts), outputFile };
}
