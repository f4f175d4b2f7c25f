import type { Sandbox } from "#contract";
import { runProcess } from "../../adapters/index.ts";
import type { RunGit } from "../workspaces/isolated-git.ts";
import { collectStdout } from "./collect-stdout.ts";
import type { Environment } from "./sandbox.ts";

/** Marks the processes, so that the next start finds those that a crash of Bridge left behind. */
const MARKER = "diff";
/** git needs no grace period, because everything that it writes is removed. */
const KILL_AFTER_MS = 100;

/** Creates the function that starts git like the program of an agent: in the sandbox, and without Bridge's environment. */
export const createRunGit =
  ({ environment, sandbox }: { environment: Environment; sandbox: Sandbox | null }): RunGit =>
  async ({ argv, env, workspace, scratch, stdoutBytes, signal }) => {
    const { toBuffer, ...listeners } = collectStdout();
    const end = await runProcess({
      ...{ isBridgeProgram: true, argv, sandbox, signal, input: "", taskId: MARKER },
      // Files and their names need not be UTF-8.
      encoding: "latin1",
      ...listeners,
      env: { ...env, PATH: environment["PATH"] ?? "" },
      ...{ cwd: scratch, tmp: scratch, home: scratch, workspace },
      limits: { stdoutBytes, lineBytes: stdoutBytes, killAfterMs: KILL_AFTER_MS },
    });
    return { ...end, stdout: toBuffer() };
  };
