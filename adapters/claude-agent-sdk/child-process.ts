import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import { JSON_OUTPUT_LIMITS, type ProcessEnd, runProcess } from "../shared/process/run-process.ts";
import type { ProgramStart, SdkProcess } from "./sdk.ts";

/** The process of one task: the SDK says what to start and talks to it, Bridge starts and ends it. */
export interface ChildProcess {
  /** For the SDK to start it with, once; throws the second time. */
  spawn(start: ProgramStart): SdkProcess;
  /** Aborted when it is gone, also one that was stopped before there was any. */
  gone: AbortSignal;
  /** Ends it and all that it has started. */
  stop(): void;
  /** How it ended, when all of it is gone; null when the SDK has started none. */
  ended(): Promise<ProcessEnd | null>;
}

/** Makes what the SDK starts its program with, by the rules for every process of Bridge's. */
export function createChildProcess(
  { request, context }: Pick<ProgramTask, "request" | "context">,
  given: Readonly<Record<string, string>>,
): ChildProcess {
  const stop = new AbortController();
  const gone = new AbortController();
  let ended: Promise<ProcessEnd> | null = null;

  return {
    spawn({ command, args, env }) {
      if (ended !== null) throw new Error("A task has one program.");
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const emitter = new EventEmitter();
      // An SDK that does not listen, or speaks to a program that is gone, must not take Bridge down.
      for (const source of [stdin, stdout, emitter]) source.on("error", () => {});
      let exit: { code: number | null; signal: NodeJS.Signals | null } = { code: null, signal: null };
      const { cwd, workspace, home, tmp } = request.directories;
      ended = runProcess({
        argv: [command, ...args],
        env: withoutOurs(env, given),
        cwd,
        workspace,
        home,
        tmp,
        taskId: request.taskId,
        sandbox: context.sandbox,
        input: (pipe) => void stdin.pipe(pipe),
        onLine: (line) => void stdout.write(`${line}\n`),
        signal: stop.signal,
        limits: JSON_OUTPUT_LIMITS,
      });
      const told = ended.then(
        ({ spawnError, exitCode: code, exitSignal }) => {
          stdout.end();
          gone.abort();
          // Without a code it was a signal, also where it was stopped before it began.
          exit = { code, signal: code === null ? (exitSignal ?? "SIGTERM") : null };
          if (spawnError === null) emitter.emit("exit", exit.code, exit.signal);
          else emitter.emit("error", new Error(spawnError));
        },
        (error: unknown) => {
          stdout.end();
          gone.abort();
          emitter.emit("error", error);
        },
      );
      // What the SDK's own listeners throw.
      told.catch(() => {});
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
    gone: gone.signal,
    stop() {
      stop.abort();
      if (ended === null) gone.abort();
    },
    ended: async () => await ended,
  };
}

/** An SDK may add what is its own to the environment that it was given, and nothing of Bridge's. */
function withoutOurs(env: ProgramStart["env"], given: Readonly<Record<string, string>>): Record<string, string> {
  const isTheirs = (entry: [string, string | undefined]): entry is [string, string] => {
    const [name, value] = entry;
    return value !== undefined && (value === given[name] || value !== process.env[name]);
  };
  return Object.fromEntries(Object.entries(env).filter(isTheirs));
}
