/*
 * The process that starts programs for Bridge. It connects a socket to Bridge for each of stdin, stdout and stderr and hands them to the
 * program, so that no input or output passes through this process.
 */
import { type SpawnOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { signalGroup } from "./signal-group.ts";

/** A program to start. */
export interface ProgramStart {
  /** The program and its arguments. Started without a shell. */
  argv: readonly string[];
  cwd: string;
  /** Its directory for temporary files, in which the address of the starter is created if this is its first program. */
  tmp: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** The path of the file that stdout is appended to; null: a socket. */
  outputFile: string | null;
}

/** A message from Bridge: a program to start, or the confirmation that Bridge has accepted all sockets of that program. */
export type StarterRequest = { id: string } & (RequestedStart | { accepted: true });

interface RequestedStart extends ProgramStart {
  /** The address at which Bridge accepts the sockets. */
  address: string;
}

/** A message to Bridge: a program has started, could not be started, or has exited. */
export type StarterReport = { id: string } & ({ pid: number } | { error: string } | { code: number | null; signal: NodeJS.Signals | null });

/** Called with whether Bridge has accepted the sockets of a program. */
const acceptances = new Map<string, (isAccepted: boolean) => void>();
const groups = new Set<number>();

process.on("message", (request: StarterRequest) => {
  if ("argv" in request) void start(request);
  else acceptances.get(request.id)?.(true);
});
process.on("disconnect", () => {
  // Bridge has ended, normally or not. The kernel kills sandboxes when this process exits.
  for (const group of groups) signalGroup(group, "SIGTERM");
  process.exit();
});
// A service manager may send SIGTERM to all processes of a service. Bridge decides when programs end.
process.on("SIGTERM", () => {});

async function start({ id, address, argv, cwd, env, outputFile }: StarterRequest & RequestedStart): Promise<void> {
  const sockets: Socket[] = [];
  let output: number | null = null;
  try {
    const accepted = new Promise<boolean>((resolve) => acceptances.set(id, resolve));
    const reject = (): void => acceptances.get(id)?.(false);
    for (const descriptor of outputFile === null ? [0, 1, 2] : [0, 2]) sockets.push(connect(address, `${id}${descriptor}`, reject));
    if (!(await accepted))
      throw new Error(`spawn ${argv[0]}: the connection to Bridge was closed. Check its limit of open files (ulimit -n).`);
    const [stdin, ...others] = sockets as [Socket, ...Socket[]];
    output = outputFile === null ? null : openSync(outputFile, "a");
    spawnProgram(id, argv, { cwd, env, stdio: [stdin, ...(output === null ? [] : [output]), ...others] });
  } catch (error) {
    report({ id, error: (error as Error).message });
  } finally {
    acceptances.delete(id);
    for (const socket of sockets) socket.destroy();
    if (output !== null) closeSync(output);
  }
}

function spawnProgram(id: string, [program = "", ...args]: readonly string[], options: SpawnOptions): void {
  // A separate process group, so that a signal reaches all its processes.
  const child = spawn(program, args, { ...options, detached: true });
  child.once("error", ({ message }) => report({ id, error: message }));
  const { pid } = child;
  if (pid === undefined) return;
  groups.add(pid);
  child.once("exit", (code, signal) => {
    groups.delete(pid);
    report({ id, code, signal });
  });
  report({ id, pid });
}

/** Connects a socket and sends its token. Reading from it detects that Bridge has closed it. */
function connect(address: string, token: string, reject: () => void): Socket {
  const socket = createConnection(address);
  socket.on("error", reject);
  socket.on("close", reject);
  socket.resume();
  socket.write(token);
  return socket;
}

function report(message: StarterReport): void {
  // A failed send means that Bridge has ended. Then `disconnect` follows.
  process.send?.(message, () => {});
}
