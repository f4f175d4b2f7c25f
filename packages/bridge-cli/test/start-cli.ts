import { spawn } from "node:child_process";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { execa } from "execa";
import { expect, onTestFinished } from "vitest";
import { compileCache } from "../../../test/harness/compile-cache.ts";
import { openTerminal, type Terminal } from "../../../test/support/open-terminal.ts";
import type { Bridge, TokenName } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { runCli as run } from "../src/run-cli.ts";

/** The file of the program. */
export const program = path.resolve(import.meta.dirname, "../src/bridge.js");
const environment = { PATH: "/usr/bin:/bin", SHELL: "/bin/sh", TERM: "xterm", ...compileCache };

/** Environment variables that select a Bridge of the tests. */
export const accessTo = (bridge: Pick<Bridge, "url">, token: TokenName = "alpha"): Record<string, string> => ({
  BRIDGE_URL: bridge.url,
  BRIDGE_TOKEN: `secret-${token}`,
});

/** Options of a process. */
export interface CliOptions {
  env?: Record<string, string>;
  cwd?: string;
  input?: string | Uint8Array;
  /** Environment for `node` itself. */
  nodeOptions?: string;
}

/** Starts `bridge` without a terminal, in an empty directory that is also its home. */
export async function runCli(args: readonly string[], { env = {}, cwd, input = "", nodeOptions = "" }: CliOptions = {}) {
  const directory = cwd ?? (await temporaryDirectory());
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, ...args], {
    cwd: directory,
    env: { ...environment, HOME: directory, NODE_OPTIONS: nodeOptions, ...env },
    extendEnv: false,
    reject: false,
    input,
  });
  return { exitCode, stdout, stderr };
}

/**
 * Runs a command without a terminal in the process of the test, which takes a fraction of the CPU time. Use `runCli` for a command that
 * reads or writes the current directory, and for tests of the process: its signals, exit, help and settings of Node.
 */
export async function runCommand(args: readonly string[], { env = {}, input = "" }: Pick<CliOptions, "env" | "input"> = {}) {
  const HOME = await temporaryDirectory();
  const streams = { stdin: Readable.from([input]), stdout: new PassThrough(), stderr: new PassThrough() };
  const exit = (code: number) => expect.unreachable(`exit ${code}`);
  const host = { ...streams, env: { ...environment, HOME, ...env }, on() {}, off() {}, exit };
  const written = Promise.all([text(streams.stdout), text(streams.stderr)]);
  const exitCode = await run(args, host as unknown as Parameters<typeof run>[1]);
  streams.stdout.end();
  streams.stderr.end();
  const [stdout, stderr] = (await written).map((output) => output.replace(/\n$/, ""));
  return { exitCode, stdout: stdout as string, stderr: stderr as string };
}

/** Starts `bridge` without a terminal, and does not wait for its end. It is killed at the end of the test. */
export async function startCli(args: readonly string[], { env = {} }: CliOptions = {}) {
  const directory = await temporaryDirectory();
  const child = spawn(process.execPath, [program, ...args], {
    cwd: directory,
    env: { ...environment, HOME: directory, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => {
    stdout += data;
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr += data;
  });
  const exited = new Promise<number | NodeJS.Signals | null>((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return { stdout: () => stdout, stderr: () => stderr, signal: (name: NodeJS.Signals) => void child.kill(name), exited };
}

/** Starts `bridge` on a terminal. It is stopped at the end of the test. */
export async function startOnTerminal(args: readonly string[], { env = {}, cwd }: CliOptions = {}): Promise<Terminal> {
  const directory = cwd ?? (await temporaryDirectory());
  return openTerminal([process.execPath, program, ...args], { cwd: directory, env: { ...environment, HOME: directory, ...env } });
}

/** Runs `bridge` on a terminal, and returns what the terminal shows at the end. */
export async function runOnTerminal(args: readonly string[], options: CliOptions = {}): Promise<{ exitCode: number; shown: string }> {
  const { exited, shown } = await startOnTerminal(args, options);
  return { exitCode: await exited, shown: shown() };
}
