import type { Sandbox } from "#contract";
import { createProgramEnvironment, runProcess } from "../../adapters/index.ts";
import type { RunSetup } from "../repositories/set-up-tree.ts";
import type { Environment } from "./sandbox.ts";

/** Creates the function that runs the `setup` of a repository like the program of an agent. */
export const createRunSetup =
  ({ environment, sandbox }: { environment: Environment; sandbox: Sandbox | null }): RunSetup =>
  async ({ argv, tree, home, tmp, taskHandle, onLine, signal }) => {
    const { spawnError, exitCode, exitSignal, limit } = await runProcess({
      ...{ argv, sandbox, signal, input: "", taskId: taskHandle, onLine, onErrorLine: onLine },
      env: createProgramEnvironment({ env: environment, settings: { env: [] } }, []),
      ...{ cwd: tree, workspace: tree, home, tmp },
      onLongLine: () => true,
    });
    return { spawnError, exitCode, exitSignal, limit };
  };
