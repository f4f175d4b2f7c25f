import path from "node:path";
import { execa } from "execa";
import { ResponderError } from "./responder-error.ts";

/** A program, and what it may use. */
export interface ProgramOptions {
  /** The program and its first arguments. No shell ever sees them. */
  command: readonly string[];
  /** Stands in errors and in `meta.json`. Default: the command. */
  name?: string | undefined;
  /** Where it runs. Default: the current directory. */
  cwd?: string | undefined;
  /** Its whole environment. Default: ours. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of one run. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Of one run's stdout, and of its stderr. Default: 1 MiB. */
  maxOutputBytes?: number | undefined;
}

/** A run that came to an end by itself. */
export interface ProgramRun {
  exitCode: number;
  stdout: string;
  /** Stdout and stderr, as they came. */
  output: string;
}

/** Runs a program. */
export interface Program {
  readonly name: string;
  /** Rejects when it does not start, is ended by a signal, takes too long or writes too much. Its process group ends with it. */
  run(args: readonly string[], options?: { signal?: AbortSignal | undefined; timeoutMs?: number | undefined }): Promise<ProgramRun>;
  /** A path as it is shown to the program, which may repeat it: below its directory without the rest of the machine's. */
  pathFor(file: string): string;
}

/** How long after its exit the output of a program may still come in. */
const DRAIN_MS = 1_000;

/** Prepares a program; nothing is started before the first run. */
export function createProgram(options: ProgramOptions): Program {
  const { command, cwd = process.cwd(), env = process.env, maxOutputBytes = 1024 ** 2 } = options;
  const [file, ...firstArguments] = command;
  if (file === undefined || file === "") throw new ResponderError("invalid_request", "The command of the tool is empty.");

  const name = options.name ?? command.join(" ");

  return {
    name,

    pathFor(target) {
      const way = path.relative(cwd, target);
      return way.startsWith("..") || path.isAbsolute(way) ? target : `.${path.sep}${way}`;
    },

    async run(args, { signal, timeoutMs = options.timeoutMs ?? 60_000 } = {}) {
      signal?.throwIfAborted();
      if (args.some((one) => one.includes("\0"))) throw new ResponderError("invalid_request", "No argument of a program can hold a NUL.");
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
        // What it has left behind goes with it; who has escaped may hold its output open, and is not waited for.
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
      if (exitCode === undefined) return fail(`cannot be started: ${code === "ENOENT" ? "there is no such program" : code}`);
      return { exitCode, stdout, output: all };
    },
  };
}
