import { type SpawnOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { setPriority } from "node:os";
import { signalGroup } from "./signal-group.ts";

/** What Bridge asks for: the start of a program, whose sockets Bridge accepts afterwards. */
export type StarterRequest = { id: string } & (ProgramToStart | { accepted: true });

interface ProgramToStart {
  /** Where Bridge listens for the sockets. */
  listener: string;
  argv: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** The path of the file for stdout; null: a socket. */
  outputFile: string | null;
  priority: number;
}

/** What the process reports: a program has started, could not be started, or has exited. */
export type StarterReport = { id: string } & ({ pid: number } | { error: string } | { code: number | null; signal: NodeJS.Signals | null });

/**
 * The process that starts programs for Bridge. It connects a socket to Bridge for each of stdin, stdout and stderr and hands them to the
 * program, so that no input or output passes through this process.
 */
const waiting = new Map<string, (isAccepted: boolean) => void>();
const groups = new Set<number>();

process.on("message", (request: StarterRequest) => {
  if ("argv" in request) void start(request);
  else waiting.get(request.id)?.(true);
});
process.on("disconnect", () => {
  // Bridge has crashed, or there are no groups. Sandboxes end with this process.
  for (const group of groups) signalGroup(group, "SIGTERM");
  process.exit();
});
// A service manager may send SIGTERM to all processes of a service. Bridge decides when programs end.
process.on("SIGTERM", () => {});

async function start({ id, listener, argv, cwd, env, outputFile, priority }: StarterRequest & ProgramToStart): Promise<void> {
  const sockets: Socket[] = [];
  let output: number | null = null;
  try {
    const answer = new Promise<boolean>((resolve) => waiting.set(id, resolve));
    const reject = (): void => waiting.get(id)?.(false);
    for (const descriptor of outputFile === null ? [0, 1, 2] : [0, 2]) sockets.push(connect(listener, `${id}${descriptor}`, reject));
    if (!(await answer)) throw new Error(`spawn ${argv[0]}: Bridge cannot open more sockets`);
    const [stdin, ...others] = sockets as [Socket, ...Socket[]];
    output = outputFile === null ? null : openSync(outputFile, "a");
    run(id, argv, priority, { cwd, env, stdio: [stdin, ...(output === null ? [] : [output]), ...others] });
  } catch (error) {
    report({ id, error: (error as Error).message });
  } finally {
    waiting.delete(id);
    for (const socket of sockets) socket.destroy();
    if (output !== null) closeSync(output);
  }
}

type Options = Pick<SpawnOptions, "cwd" | "env" | "stdio">;

function run(id: string, [program = "", ...programArguments]: readonly string[], priority: number, options: Options): void {
  // A separate process group, so that a signal reaches all its processes.
  const child = spawn(program, programArguments, { ...options, detached: true });
  child.once("error", ({ message }) => report({ id, error: message }));
  const { pid } = child;
  if (pid === undefined) return;
  if (priority !== 0) setPriority(pid, priority);
  groups.add(pid);
  child.once("exit", (code, signal) => {
    groups.delete(pid);
    report({ id, code, signal });
  });
  report({ id, pid });
}

/** Connects a socket and names it. It is read only to learn that Bridge closes it. */
function connect(listener: string, name: string, reject: () => void): Socket {
  const socket = createConnection(listener);
  socket.on("error", reject);
  socket.on("close", reject);
  socket.resume();
  socket.write(name);
  return socket;
}

function report(text: StarterReport): void {
  // If it fails, Bridge has ended, and so does this process.
  process.send?.(text, () => {});
}
