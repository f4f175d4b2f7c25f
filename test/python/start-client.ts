import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { python, pythonEnvironment } from "./python.ts";

/** Options of the client of one call. */
export interface ClientOptions {
  url: string;
  token: string;
  retryDelayMs: number;
  patienceMs: number;
  silenceMs: number;
}

/** One call, as a runner receives it. */
export interface CallMessage {
  number: number;
  call: string;
  client: ClientOptions;
  given: Record<string, unknown>;
}

/** The result of a call, or the fields of its error. */
export type Outcome = { result: unknown } | { error: Record<string, unknown> };

/** A program that executes calls of one client. */
export interface Client {
  call(call: string, given: object, client: ClientOptions, onEvent?: (event: unknown) => void): Promise<Outcome>;
}

/** The clients to compare: the command of each runner. */
export const runners: Readonly<Record<string, readonly string[]>> = {
  TypeScript: [process.execPath, path.join(import.meta.dirname, "run-client.ts")],
  Python: [python, path.join(import.meta.dirname, "run_client.py"), "sync"],
  "Python with asyncio": [python, path.join(import.meta.dirname, "run_client.py"), "async"],
};

/** Starts the runner of a client. It is killed at the end of the test, and must not have printed anything on stderr. */
export function startClient(name: string): Client {
  const [program = "", ...args] = runners[name] ?? [];
  const child = spawn(program, args, { env: { ...pythonEnvironment }, stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    if (stderr !== "") throw new Error(`The runner printed on stderr: ${stderr}`);
  });
  const waiting = new Map<number, { onEvent: (event: unknown) => void; settle: (outcome: Outcome) => void }>();
  createInterface(child.stdout).on("line", (line) => {
    const { number, event, ...outcome } = JSON.parse(line) as { number: number; event?: unknown } & Outcome;
    const call = waiting.get(number);
    if (event !== undefined) call?.onEvent(event);
    else call?.settle(outcome as Outcome);
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code, signal) => reject(new Error(`The runner ended with ${code ?? signal}: ${stderr}`)));
  });
  // It also ends after the last call.
  ended.catch(() => {});

  let number = 0;
  return {
    call(call, given, client, onEvent = () => {}) {
      number += 1;
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      waiting.set(number, { onEvent, settle: resolve });
      child.stdin.write(`${JSON.stringify({ number, call, client, given } satisfies CallMessage)}\n`);
      return Promise.race([promise, ended]);
    },
  };
}
