import { randomUUID } from "node:crypto";
import path from "node:path";
import { runProcess } from "../../adapters/index.ts";
import type { RunHost } from "../repositories/host-git.ts";
import { collectStdout } from "./collect-stdout.ts";
import type { Environment } from "./sandbox.ts";

/** git removes its temporary files when it gets SIGTERM. */
const KILL_AFTER_MS = 2000;

/** Creates the function that starts programs of Bridge itself, outside of the sandbox. `tmpRoot` is cleared at each start of Bridge. */
export const createRunHost =
  ({ environment, tmpRoot }: { environment: Environment; tmpRoot: string }): RunHost =>
  async ({ argv, env, input, stdoutBytes, signal, leavesProcesses = false }) => {
    const { toBuffer, ...listeners } = collectStdout();
    const tmp = path.join(tmpRoot, "host");
    const end = await runProcess({
      ...{ isBridgeProgram: !leavesProcesses, argv, signal, input, tmp, sandbox: null, workspace: tmp, cwd: path.parse(tmpRoot).root },
      // Its descendants are found by this marker, so it is unique.
      taskId: `host-${randomUUID()}`,
      encoding: "latin1",
      ...listeners,
      env: { PATH: environment["PATH"] ?? "", ...env },
      home: environment["HOME"] ?? tmp,
      limits: { stdoutBytes, lineBytes: stdoutBytes, killAfterMs: KILL_AFTER_MS },
    });
    return { ...end, stdout: toBuffer() };
  };
