import { makePrivateDirectory } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import { taskHandle } from "../task.ts";
import type { Repository, TreeRun, TreeTask } from "./repository.ts";

/** Runs the command that prepares a tree, in the sandbox if there is one. */
export type RunSetup = (options: {
  argv: readonly string[];
  tree: string;
  home: string;
  tmp: string;
  /** Marks its processes as those of the task. */
  taskHandle: string;
  onLine(line: string): void;
  signal: AbortSignal;
}) => Promise<{ spawnError: string | null; exitCode: number | null; exitSignal: string | null; limit: string | null }>;

/** The last lines of the output that the error of a failed setup contains. */
const SHOWN_LINES = 10;
const SHOWN_CHARACTERS = 2000;

/** Runs `setup` of a repository in a tree. Throws BridgeError: invalid_state, with the last lines of its output. */
export async function setUpTree(
  task: TreeTask,
  { setup, setupSeconds }: Pick<Repository, "setup" | "setupSeconds">,
  { tree, runSetup, run }: { tree: string; runSetup: RunSetup; run: TreeRun },
): Promise<void> {
  if (setup === null) return;
  const lines: string[] = [];
  const timeout = AbortSignal.timeout(setupSeconds * 1000);
  makePrivateDirectory(run.home);
  const end = await runSetup({
    ...{ argv: setup, tree, home: run.home, tmp: run.tmp, taskHandle: taskHandle(task) },
    signal: AbortSignal.any([run.signal, timeout]),
    onLine(line) {
      lines.push(line);
      if (lines.length > SHOWN_LINES) lines.shift();
      run.onOutput(line);
    },
  });
  run.signal.throwIfAborted();
  const reason = explain(end, timeout.aborted ? setupSeconds : null);
  if (reason === null) return;
  const output = lines.join("\n").slice(-SHOWN_CHARACTERS).trim();
  throw new BridgeError("invalid_state", `The setup of ${task.repository.name} (${setup.join(" ")}) ${reason}. ${output}`.trim());
}

function explain({ spawnError, exitCode, exitSignal, limit }: Awaited<ReturnType<RunSetup>>, overSeconds: number | null): string | null {
  if (spawnError !== null) return `could not be started: ${spawnError}`;
  if (overSeconds !== null) return `did not end within ${overSeconds} s`;
  if (limit !== null) return `exceeded a limit: ${limit}`;
  if (exitCode === 0) return null;
  return exitCode === null ? `was ended by ${exitSignal}` : `failed with exit code ${exitCode}`;
}
