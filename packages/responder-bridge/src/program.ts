import path from "node:path";
import { execa } from "execa";
import { ResponderError } from "./responder-error.ts";

/** A program and its limits. */
export interface ProgramOptions {
  /** The program and its first arguments. It is started without a shell. */
  command: readonly string[];
  /** Name in errors and in `meta.json`. Default: the command. */
  name?: string | undefined;
  /** Working directory. Default: the current directory. */
  cwd?: string | undefined;
  /** Complete environment. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Time limit of one run. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Limit for each of stdout and stderr of one run. Default: 1 MiB. */
  maxOutputBytes?: number | undefined;
}

/** A run that was not ended by a limit or a signal. */
export interface ProgramRun {
  exitCode: number;
  stdout: string;
  /** Stdout and stderr, interleaved as they were written. */
  output: string;
}

/** Runs a program. */
export interface Program {
  readonly name: string;
  /**
   * Rejects when the program does not start, is ended by a signal, or exceeds the limits of time or output. Its process
   * group ends with it.
   */
  run(args: readonly string[], options?: { signal?: AbortSignal | undefined; timeoutMs?: number | undefined }): Promise<ProgramRun>;
  /**
   * Returns the path to pass to the program: relative if it is below the working directory, because the program may
   * repeat it to the model.
   */
  pathFor(file: string): string;
}

/** How long output is read after the program has exited. */
const DRAIN_MS = 1_000;

/** Creates a runner of a program. Does not start the program. */
export function createProgram(options: ProgramOptions): Program {
  const { command, cwd = process.cwd(), env = process.env, maxOutputBytes = 1024 ** 2 } = options;
  const [file, ...firstArguments] = command;
  if (file === undefined || file === "") throw new ResponderError("invalid_request", "The command of the tool is empty.");

  const name = options.name ?? command.join(" ");

  return {
    name,

    pathFor(target) {
      const relative = path.relative(cwd, target);
      return relative.startsWith("..") || path.isAbsolute(relative) ? target : `.${path.sep}${relative}`;
    },

    async run(args, { signal, timeoutMs = options.timeoutMs ?? 60_000 } = {}) {
      signal?.throwIfAborted();
      if (args.some((one) => one.includes("\0")))
        throw new ResponderError("invalid_request", "An argument of a program must not contain a NUL character.");
      const subprocess = execa(file, [...firstArguments, ...args], {
        cwd,
        env: { ...env },
        extendEnv: false,
        stdin: "ignore",
        all: true,
        stripFinalNewline: false,
        maxBuffer: maxOutputBytes,
        timeout: timeoutMs,
        ...(signal && { cancelSignal: signal }),
        killDescendants: true,
        killSignal: "SIGKILL",
        reject: false,
      });
      subprocess.nodeChildProcess.once("exit", () => {
        // Kills remaining descendants. A descendant that left the process group may keep the output open, so reading it has a limit.
        subprocess.kill();
        setTimeout(() => subprocess.all.destroy(), DRAIN_MS).unref();
      });
      const { exitCode, stdout, all, timedOut, isMaxBuffer, code, signal: exitSignal } = await subprocess;
      signal?.throwIfAborted();
      const fail = (what: string, output?: string): never => {
        throw new ResponderError("tool_failed", `The tool ${JSON.stringify(name)} ${what}.`, output === undefined ? {} : { output });
      };
      if (timedOut) fail(`took longer than ${timeoutMs} ms`, all);
      if (isMaxBuffer) fail(`wrote more than ${maxOutputBytes} bytes`, all);
      if (exitSignal !== undefined) fail(`was ended by ${exitSignal}`, all);
      if (exitCode === undefined) return fail(`cannot be started: ${code === "ENOENT" ? "program not found" : code}`);
      return { exitCode, stdout, output: all };
    },
  };
}
