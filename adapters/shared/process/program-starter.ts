import { AsyncLocalStorage } from "node:async_hooks";
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync } from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import { type Address, acceptPrivateSockets } from "./private-sockets.ts";
import type { ProgramStart, StarterReport, StarterRequest } from "./program-starter-process.ts";
import { signalGroup } from "./signal-group.ts";

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

/** Each start opens three sockets, and the starter connects those of many starts in one turn. */
const MAX_STARTING = 32;
/** The length of `randomUUID`, and one digit for the descriptor. */
const TOKEN_BYTES = 37;

/** The number of the first descriptor after those of stdio and the channel. */
const INHERITED_DESCRIPTOR = 4;

/** Runs a function outside of the asynchronous contexts of tasks. */
const runOutside = AsyncLocalStorage.snapshot();

let current: ReturnType<typeof forkStarter> | null = null;

/**
 * Starts a program from a small separate process. Node starts programs by `fork`, which copies the page tables of the process and blocks
 * its event loop meanwhile. Rejects if the program cannot be started, such as `spawn program ENOENT`, or if the starter process fails.
 */
export async function startProgram(program: ProgramStart): Promise<StartedProgram> {
  const clearStarter = (): void => {
    current = null;
  };
  current ??= runOutside(() => forkStarter(program.tmp, clearStarter));
  return await current.start(program);
}

function forkStarter(directory: string, onEnd: () => void) {
  const programs = new Map<string, PendingProgram>();
  const waiting: StarterRequest[] = [];
  let startingCount = 0;
  let isOver = false;
  const { address, close } = acceptPrivateSockets(directory, TOKEN_BYTES, { onSocket: addSocket, onError: ({ message }) => fail(message) });
  const { starter, starterAddress, setReferenced, send } = forkProcess(address);
  starter.on("message", handle);
  starter.on("error", ({ message }) => fail(message));
  starter.once("exit", (code, signal) => fail(signal ?? `exit code ${code}`));

  function sendWaiting(): void {
    for (; startingCount < MAX_STARTING && waiting.length > 0; startingCount += 1) send(waiting.shift() as StarterRequest);
  }

  function addSocket(token: string, socket: Socket): void {
    const id = token.slice(0, -1);
    const program = programs.get(id);
    if (program === undefined) {
      socket.destroy();
      return;
    }
    program.sockets.set(Number(token.at(-1)), socket);
    if (program.sockets.size === program.socketCount) send({ id, accepted: true });
  }

  function handle(report: StarterReport): void {
    const { id } = report;
    const program = programs.get(id);
    if (program === undefined) return;
    if ("code" in report) {
      finish(id, program, [report.code, report.signal]);
      return;
    }
    startingCount -= 1;
    sendWaiting();
    if ("error" in report) reject(id, program, report.error);
    else resolveStart(program, report.pid);
  }

  function remove(id: string): void {
    programs.delete(id);
    if (programs.size === 0) setReferenced(false);
  }

  function reject(id: string, { started, sockets }: PendingProgram, reason: string): void {
    remove(id);
    for (const socket of sockets.values()) socket.destroy();
    started.reject(new Error(reason));
  }

  function finish(id: string, { exited, sockets }: PendingProgram, exit: ProgramExit): void {
    remove(id);
    // As Node does for its own child processes: the program does not read stdin any more.
    sockets.get(0)?.destroy();
    exited.resolve(exit);
  }

  function fail(reason: string): void {
    if (isOver) return;
    isOver = true;
    onEnd();
    close();
    starter.kill("SIGKILL");
    for (const [id, program] of programs) {
      if (program.pid === null) reject(id, program, `The process that starts programs has failed (${reason}). Dispatch the task again.`);
      else {
        // Without the starter, Bridge cannot learn the exit of the program.
        signalGroup(program.pid, "SIGKILL");
        finish(id, program, [null, "SIGKILL"]);
      }
    }
  }

  return {
    start(program: ProgramStart): Promise<StartedProgram> {
      const id = randomUUID();
      const pending: PendingProgram = {
        ...{ started: Promise.withResolvers(), exited: Promise.withResolvers(), sockets: new Map(), pid: null },
        socketCount: program.outputFile === null ? 3 : 2,
      };
      if (programs.size === 0) setReferenced(true);
      programs.set(id, pending);
      waiting.push({ id, address: starterAddress, ...program });
      sendWaiting();
      return pending.started.promise;
    },
  };
}

function forkProcess(address: Address) {
  const script = path.join(import.meta.dirname, `program-starter-process${path.extname(import.meta.filename)}`);
  // The starter gets no environment variables, because they contain secrets. It gets a separate session, so that Ctrl+C does not end it
  // before the programs.
  const inherited = "path" in address ? [] : [address.descriptor];
  const starter = fork(script, { env: {}, execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc", ...inherited], detached: true });
  for (const descriptor of inherited) closeSync(descriptor);

  /** Bridge can end while no program runs. */
  function setReferenced(isReferenced: boolean): void {
    for (const handle of [starter, starter.channel])
      if (isReferenced) handle?.ref();
      else handle?.unref();
  }

  setReferenced(false);
  return {
    starter,
    /** The address as the starter sees it. */
    starterAddress: "path" in address ? address.path : `/proc/self/fd/${INHERITED_DESCRIPTOR}`,
    setReferenced,
    /** Does nothing without a connection, because then the starter has ended. */
    send(request: StarterRequest): void {
      if (starter.connected) starter.send(request, () => {});
    },
  };
}

function resolveStart(program: PendingProgram, pid: number): void {
  program.pid = pid;
  const [stdin, stdout, stderr] = [0, 1, 2].map((descriptor) => program.sockets.get(descriptor));
  program.started.resolve({
    pid,
    stdin: stdin as Socket,
    stdout: stdout ?? null,
    stderr: stderr as Socket,
    exited: program.exited.promise,
  });
}
