import type { Writable } from "node:stream";
import type { MCPTransport } from "@ai-sdk/mcp";
import type { McpServerSpec } from "#contract";
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { programEnvironment } from "../agent-program/program-environment.ts";
import { reportOrphans } from "../agent-program/run-program.ts";
import { findProgram } from "../process/find-program.ts";
import { exitFailure, stopFailure } from "../process/process-failure.ts";
import { JSON_OUTPUT_LIMITS, type ProcessEnd, runProcess } from "../process/run-process.ts";

/** How long a server may take to end after its stdin was closed, and then after SIGTERM. */
const EXIT_LIMIT_MS = 500;
const KILL_AFTER_MS = 2_000;

/** An MCP server that is a process of its task. */
export interface StdioServer {
  transport: MCPTransport;
  /** Ends it, in the way that spoils nothing; resolves when it and all that it has started are gone. */
  close(): Promise<void>;
  /** Why it has ended by itself; null while it lives. */
  readonly failure: string | null;
}

type StdioSpec = Extract<McpServerSpec, { transport: "stdio" }>;

/** A server for one task: no shell, an environment of what is allowed and what the dispatch gives it, swept when it ends. */
export function createStdioServer({ command, args = [], env = {} }: StdioSpec, mark: string, task: ProgramTask): StdioServer {
  const { request, context, signal } = task;
  const { directories } = request;
  const stop = new AbortController();
  const started = Promise.withResolvers<Writable>();
  let stdin: Writable | null = null;
  let ended: Promise<ProcessEnd> | null = null;
  let failure: string | null = null;

  const transport: MCPTransport = {
    async start() {
      ended = run();
      if ((await Promise.race([started.promise, ended.then(() => null)])) === null) throw new Error(failure ?? "It has ended.");
    },
    async send(message) {
      const input = await started.promise;
      // A server that has gone reads nothing more; that is told by its exit.
      await new Promise<void>((resolve) => input.write(`${JSON.stringify(message)}\n`, () => resolve()));
    },
    async close() {},
  };

  async function run(): Promise<ProcessEnd> {
    const allowed = programEnvironment(context, []);
    // Bridge's own PATH decides which program that is: the dispatch may only name what the operator has permitted.
    const program = findProgram(command, allowed["PATH"] ?? "");
    const end = await runProcess({
      argv: [program ?? command, ...args],
      env: { ...allowed, ...env },
      cwd: directories.cwd,
      // A mark of its own: the sweep at its end spares the other servers of the task.
      taskId: `${request.taskId}/${mark}`,
      tmp: directories.tmp,
      home: directories.home,
      workspace: directories.workspace,
      sandbox: context.sandbox,
      input(writable) {
        stdin = writable;
        started.resolve(writable);
      },
      onLine: read,
      signal: AbortSignal.any([signal, stop.signal]),
      limits: { ...JSON_OUTPUT_LIMITS, killAfterMs: KILL_AFTER_MS },
    });
    reportOrphans(task, end);
    failure = (stopFailure(end, JSON_OUTPUT_LIMITS) ?? exitFailure(end)).error ?? null;
    transport.onclose?.();
    return end;
  }

  function read(line: string): void {
    const message = parseMessage(line);
    // Who does not read what it is told gets no more answers: they would pile up here.
    if (message !== null && "method" in message && stdin?.writableNeedDrain === true) return;
    try {
      if (message === null) throw new Error("It is no message.");
      transport.onmessage?.(message);
    } catch (error) {
      const { taskId } = request;
      context.logger.debug({ taskId, line: line.slice(0, 500), err: error }, "the MCP server wrote a line that means nothing");
    }
  }

  return {
    transport,
    get failure() {
      return failure;
    },
    async close() {
      if (ended === null) return;
      void started.promise.then((input) => input.end());
      const timer = setTimeout(() => stop.abort(), EXIT_LIMIT_MS);
      await ended.finally(() => clearTimeout(timer));
    },
  };
}

type Message = Parameters<NonNullable<MCPTransport["onmessage"]>>[0];

function parseMessage(line: string): Message | null {
  try {
    const message: unknown = JSON.parse(line);
    const isMessage = typeof message === "object" && message !== null && "jsonrpc" in message && message.jsonrpc === "2.0";
    return isMessage ? (message as Message) : null;
  } catch {
    return null;
  }
}
