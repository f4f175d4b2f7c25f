import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { type ProcessEnd, processLimits, runProcess } from "../process/run-process.ts";
import type { ProgramTask } from "../program/agent-program.ts";
import type { ProgramStart, SdkProcess } from "./sdk.ts";

/** A story in JSON costs a multiple of its text. */
export const stdoutBytes = 8 * processLimits.stdoutBytes;

/** The process of one task: the SDK says what to start and talks to it, Bridge starts and ends it. */
export interface ChildProcess {
  /** For the SDK to start it with, once. */
  spawn(start: ProgramStart): SdkProcess;
  /** Ends it and all that it has started. */
  stop(): void;
  /** How it ended, when all of it is gone; null when the SDK has started none. */
  ended(): Promise<ProcessEnd | null>;
}

/** Makes what the SDK starts its program with, by the rules for every process of Bridge's. */
export function createChildProcess({ request, context }: Pick<ProgramTask, "request" | "context">): ChildProcess {
  const stop = new AbortController();
  let ended: Promise<ProcessEnd> | null = null;

  return {
    spawn({ command, args, env }) {
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const emitter = new EventEmitter();
      let exit: { code: number | null; signal: NodeJS.Signals | null } = { code: null, signal: null };
      const { cwd, workspace, home, tmp } = request.directories;
      ended = runProcess({
        argv: [command, ...args],
        env: Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
        cwd,
        workspace,
        home,
        tmp,
        taskId: request.taskId,
        sandbox: context.sandbox,
        input: (pipe) => void stdin.pipe(pipe),
        onLine: (line) => void stdout.write(`${line}\n`),
        signal: stop.signal,
        limits: { stdoutBytes },
      });
      ended.then(
        ({ spawnError, exitCode: code, exitSignal }) => {
          stdout.end();
          // Without a code it was a signal, also where it was stopped before it began.
          exit = { code, signal: code === null ? (exitSignal ?? "SIGTERM") : null };
          if (spawnError === null) emitter.emit("exit", exit.code, exit.signal);
          else emitter.emit("error", new Error(spawnError));
        },
        (error: unknown) => {
          stdout.end();
          emitter.emit("error", error);
        },
      );
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
    stop: () => stop.abort(),
    ended: async () => await ended,
  };
}
