import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import { JSON_OUTPUT_LIMITS, type ProcessEnd, runProcess } from "../shared/process/run-process.ts";
import type { ProgramStart, SdkProcess } from "./sdk.ts";

/** The process of one task. The SDK chooses the command and exchanges messages with it; Bridge starts and stops it. */
export interface ChildProcess {
  /** Starts the process; the SDK calls this once. Throws on a second call. */
  spawn(start: ProgramStart): SdkProcess;
  /** Aborted when the process has exited, or was stopped before the SDK started it. */
  exited: AbortSignal;
  /** Kills the process and its descendants. */
  stop(): void;
  /** Resolves when the process and its descendants have exited; null if the SDK started none. */
  waitForEnd(): Promise<ProcessEnd | null>;
}

/** Creates the process launcher of one task. The process gets the same sandbox, limits and markers as every other process of Bridge. */
export function createChildProcess(
  { request, context }: Pick<ProgramTask, "request" | "context">,
  allowedEnv: Readonly<Record<string, string>>,
): ChildProcess {
  const stop = new AbortController();
  const exited = new AbortController();
  let end: Promise<ProcessEnd> | null = null;

  return {
    spawn({ command, args, env }) {
      if (end !== null) throw new Error("The SDK tried to start a second process for one task.");
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const emitter = new EventEmitter();
      // An unhandled "error" event, for example of a write after the program has exited, would crash Bridge.
      for (const source of [stdin, stdout, emitter]) source.on("error", () => {});
      let exit: { code: number | null; signal: NodeJS.Signals | null } = { code: null, signal: null };
      const { cwd, workspace, home, tmp } = request.directories;
      end = runProcess({
        argv: [command, ...args],
        env: removeBridgeVariables(env, allowedEnv),
        cwd,
        workspace,
        home,
        tmp,
        taskId: request.taskId,
        trace: request,
        sandbox: context.sandbox,
        input: (pipe) => void stdin.pipe(pipe),
        onLine: (line) => void stdout.write(`${line}\n`),
        signal: stop.signal,
        limits: JSON_OUTPUT_LIMITS,
      });
      const reported = end.then(
        ({ spawnError, exitCode: code, exitSignal }) => {
          stdout.end();
          exited.abort();
          // A process without an exit code was killed by a signal, possibly before it started.
          exit = { code, signal: code === null ? (exitSignal ?? "SIGTERM") : null };
          if (spawnError === null) emitter.emit("exit", exit.code, exit.signal);
          else emitter.emit("error", new Error(spawnError));
        },
        (error: unknown) => {
          stdout.end();
          exited.abort();
          emitter.emit("error", error);
        },
      );
      // Listeners of the SDK may throw.
      reported.catch(() => {});
      return {
        stdin,
        stdout,
        get killed() {
          return stop.signal.aborted;
        },
        get exitCode() {
          return exit.code;
        },
        get signalCode() {
          return exit.signal;
        },
        kill() {
          stop.abort();
          return true;
        },
        on: (event, listener) => emitter.on(event, listener),
        once: (event, listener) => emitter.once(event, listener),
        off: (event, listener) => emitter.off(event, listener),
      };
    },
    exited: exited.signal,
    stop() {
      stop.abort();
      if (end === null) exited.abort();
    },
    waitForEnd: async () => await end,
  };
}

/** Removes variables that the SDK copied from Bridge's environment. Keeps those in `allowedEnv`, and those that the SDK added itself. */
function removeBridgeVariables(env: ProgramStart["env"], allowedEnv: Readonly<Record<string, string>>): Record<string, string> {
  const isAllowed = (entry: [string, string | undefined]): entry is [string, string] => {
    const [name, value] = entry;
    return value !== undefined && (value === allowedEnv[name] || value !== process.env[name]);
  };
  return Object.fromEntries(Object.entries(env).filter(isAllowed));
}
