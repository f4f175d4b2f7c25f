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
  given: object;
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

/** Formats a message as one line of ASCII, because readline also ends a line at U+2028. */
export const toLine = (message: object): string =>
  `${JSON.stringify(message).replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;

/** Starts the runner of a client. `atEnd` kills it, and throws if it has printed anything on stderr. */
export function startClient(name: string, atEnd: (end: () => void) => void = onTestFinished): Client {
  const [program = "", ...args] = runners[name] ?? [];
  const child = spawn(program, args, { env: { ...pythonEnvironment }, stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  atEnd(() => {
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
      child.stdin.write(toLine({ number, call, client, given } satisfies CallMessage));
      return Promise.race([promise, ended]);
    },
  };
}
