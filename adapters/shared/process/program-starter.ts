import { AsyncLocalStorage } from "node:async_hooks";
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import path from "node:path";
import type { StarterReport, StarterRequest } from "./program-starter-process.ts";
import { signalGroup } from "./signal-group.ts";
import { acceptTokenSockets } from "./token-sockets.ts";

/** A program to start. */
export interface ProgramStart {
  /** The program and its arguments. Started without a shell. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** The path of the file that stdout is appended to; null: a socket. */
  outputFile: string | null;
  /** Its niceness relative to that of Bridge: 0 is the same priority. */
  niceness: number;
}

/** A running program, in a separate process group. */
export interface StartedProgram {
  pid: number;
  stdin: Socket;
  /** Null if stdout is a file. */
  stdout: Socket | null;
  stderr: Socket;
  /** Resolves with the exit code, or the signal that ended the program. */
  exited: Promise<ProgramExit>;
}

/** Exit code and signal. One of them is null. */
export type ProgramExit = [number | null, NodeJS.Signals | null];

/** A program from the request to start it until its exit. */
interface PendingProgram {
  started: PromiseWithResolvers<StartedProgram>;
  exited: PromiseWithResolvers<ProgramExit>;
  /** By descriptor. */
  sockets: Map<number, Socket>;
  socketCount: number;
  pid: number | null;
}

/** The length of `randomUUID`, and one digit for the descriptor. */
const TOKEN_BYTES = 37;

/** Runs a function outside of the asynchronous contexts of tasks. */
const runOutside = AsyncLocalStorage.snapshot();

let current: ReturnType<typeof forkStarter> | null = null;

/**
 * Starts a program from a small separate process. Node starts programs by `fork`, which copies the page tables of the process and blocks
 * its event loop meanwhile. Rejects if the program cannot be started, such as `spawn program ENOENT`, or if the starter process fails.
 */
export function startProgram(start: ProgramStart): Promise<StartedProgram> {
  const clearStarter = (): void => {
    current = null;
  };
  current ??= runOutside(() => forkStarter(clearStarter));
  return current.start(start);
}

function forkStarter(onEnd: () => void) {
  const entries = new Map<string, PendingProgram>();
  const script = path.join(import.meta.dirname, `program-starter-process${path.extname(import.meta.filename)}`);
  // The starter gets no environment variables, because they contain secrets. It gets a separate session, so that Ctrl+C does not end it
  // before the programs.
  const starter = fork(script, { env: {}, execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"], detached: true });
  const { address, close } = acceptTokenSockets(TOKEN_BYTES, { onSocket: addSocket, onError: rejectStarts });
  starter.on("message", handle);
  starter.on("error", ({ message }) => handleEnd(message));
  starter.once("exit", (code, signal) => handleEnd(signal ?? `exit code ${code}`));
  // Bridge can end while no program runs.
  starter.unref();
  starter.channel?.unref();

  // A failed send means that the starter has ended. Then `handleEnd` rejects all starts.
  const send = (request: StarterRequest): void => void starter.send(request, () => {});

  function addSocket(token: string, socket: Socket): void {
    const id = token.slice(0, -1);
    const entry = entries.get(id);
    if (entry === undefined) {
      socket.destroy();
      return;
    }
    entry.sockets.set(Number(token.at(-1)), socket);
    if (entry.sockets.size === entry.socketCount) send({ id, accepted: true });
  }

  function handle(report: StarterReport): void {
    const { id } = report;
    const entry = entries.get(id);
    if (entry === undefined) return;
    if ("error" in report) reject(id, entry, new Error(report.error));
    else if ("pid" in report) resolveStart(entry, report.pid);
    else finish(id, entry, [report.code, report.signal]);
  }

  function remove(id: string): void {
    entries.delete(id);
    if (entries.size === 0) starter.channel?.unref();
  }

  function reject(id: string, { started, sockets }: PendingProgram, error: Error): void {
    remove(id);
    for (const socket of sockets.values()) socket.destroy();
    started.reject(error);
  }

  function finish(id: string, { exited, sockets }: PendingProgram, exit: ProgramExit): void {
    remove(id);
    // As Node does for its own child processes: no process may read stdin any more.
    sockets.get(0)?.destroy();
    exited.resolve(exit);
  }

  function rejectStarts(error: Error): void {
    for (const [id, entry] of entries) if (entry.pid === null) reject(id, entry, error);
  }

  function handleEnd(reason: string): void {
    close();
    onEnd();
    rejectStarts(new Error(`The process that starts programs has ended (${reason}). Dispatch the task again.`));
    // Without the starter, Bridge cannot learn the exit of these programs.
    for (const [id, entry] of entries) {
      signalGroup(entry.pid as number, "SIGKILL");
      finish(id, entry, [null, "SIGKILL"]);
    }
  }

  return {
    start(program: ProgramStart): Promise<StartedProgram> {
      const id = randomUUID();
      const entry: PendingProgram = {
        ...{ started: Promise.withResolvers(), exited: Promise.withResolvers(), sockets: new Map(), pid: null },
        socketCount: program.outputFile === null ? 3 : 2,
      };
      if (entries.size === 0) starter.channel?.ref();
      entries.set(id, entry);
      send({ id, address, ...program });
      return entry.started.promise;
    },
  };
}

function resolveStart(entry: PendingProgram, pid: number): void {
  entry.pid = pid;
  const [stdin, stdout, stderr] = [0, 1, 2].map((descriptor) => entry.sockets.get(descriptor));
  entry.started.resolve({ pid, stdin: stdin as Socket, stdout: stdout ?? null, stderr: stderr as Socket, exited: entry.exited.promise });
}
