import type { Writable } from "node:stream";
import type { MCPTransport } from "@ai-sdk/mcp";
import { type McpServerSpec, stringifyWellFormed } from "#contract";
import type { ProgramTask } from "../agent-program/agent-program.ts";
import { createProgramEnvironment } from "../agent-program/program-environment.ts";
import { reportOrphans } from "../agent-program/run-program.ts";
import { findProgram } from "../process/find-program.ts";
import { parseJsonLine } from "../process/parse-json-line.ts";
import { exitFailure, stopFailure } from "../process/process-failure.ts";
import { JSON_OUTPUT_LIMITS, type ProcessEnd, runProcess } from "../process/run-process.ts";
import type { TaskAnswers } from "./answer-memory.ts";

/** How long a server may take to exit after its stdin is closed, and after SIGTERM. */
const EXIT_LIMIT_MS = 500;
const KILL_AFTER_MS = 2_000;

type StdioSpec = Extract<McpServerSpec, { transport: "stdio" }>;

/**
 * Creates the process of an MCP server for one task. The process gets the allowed variables of Bridge's environment and the
 * variables of the dispatch. `idSuffix` distinguishes the servers of the task.
 */
export function createStdioServer(
  { command, args = [], env = {} }: StdioSpec,
  { idSuffix, task, answers }: { idSuffix: string; task: ProgramTask; answers: TaskAnswers },
) {
  const { request, context, signal } = task;
  const { directories } = request;
  const stop = new AbortController();
  const stdinReady = Promise.withResolvers<Writable>();
  let stdin: Writable | null = null;
  let processEnd: Promise<ProcessEnd> | null = null;
  let failure: string | null = null;

  const transport: MCPTransport = {
    async start() {
      processEnd = run();
      if ((await Promise.race([stdinReady.promise, processEnd.then(() => null)])) === null)
        throw new Error(failure ?? "The server exited.");
    },
    async send(message) {
      const input = await stdinReady.promise;
      // Ignores write errors: if the server has exited, its exit is the error.
      await new Promise<void>((resolve) => input.write(`${stringifyWellFormed(message)}\n`, () => resolve()));
    },
    async close() {},
  };

  async function run(): Promise<ProcessEnd> {
    const allowedEnv = createProgramEnvironment(context, []);
    // The program is looked up in Bridge's PATH, because the operator permits programs by name and a dispatch must not redirect the lookup.
    const program = findProgram(command, allowedEnv["PATH"] ?? "");
    const end = await runProcess({
      argv: [program ?? command, ...args],
      env: { ...allowedEnv, ...env },
      cwd: directories.cwd,
      // A separate id, so that the sweep at its end does not kill the other servers of the task.
      taskId: `${request.taskId}/${idSuffix}`,
      trace: request,
      tmp: directories.tmp,
      home: directories.home,
      workspace: directories.workspace,
      sandbox: context.sandbox,
      input(writable) {
        stdin = writable;
        stdinReady.resolve(writable);
      },
      onLine: readLine,
      signal: AbortSignal.any([signal, stop.signal]),
      limits: { ...JSON_OUTPUT_LIMITS, killAfterMs: KILL_AFTER_MS },
    });
    reportOrphans(task, end);
    failure = (stopFailure(end, JSON_OUTPUT_LIMITS) ?? exitFailure(end)).error ?? null;
    transport.onclose?.();
    return end;
  }

  function readLine(line: string): void {
    const message = parseMessage(line);
    // A server that does not read its stdin gets no more answers, because they would accumulate in memory.
    if (message !== null && "method" in message && stdin?.writableNeedDrain === true) return;
    try {
      if (message === null) throw new Error("The line is not a JSON-RPC message.");
      transport.onmessage?.(limitAnswer(message, Buffer.byteLength(line)));
    } catch (error) {
      const { taskId } = request;
      context.logger.debug({ taskId, line: line.slice(0, 500), err: error }, "invalid output of an MCP server");
    }
  }

  /** Returns an error in place of an answer for which no memory is left. */
  function limitAnswer(message: Message, bytes: number): Message {
    if (!("result" in message || "error" in message)) return message;
    try {
      answers.open().take(bytes);
      return message;
    } catch (error) {
      return { jsonrpc: "2.0", id: message.id, error: { code: -32_000, message: (error as Error).message } };
    }
  }

  return {
    transport,
    /** Why the process ended; null while it runs. */
    get failure(): string | null {
      return failure;
    },
    /** Stops the server gracefully. Resolves when the process and all its descendants have ended. */
    async close(): Promise<void> {
      if (processEnd === null) return;
      void stdinReady.promise.then((input) => input.end());
      const timer = setTimeout(() => stop.abort(), EXIT_LIMIT_MS);
      await processEnd.finally(() => clearTimeout(timer));
    },
  };
}

type Message = Parameters<NonNullable<MCPTransport["onmessage"]>>[0];

function parseMessage(line: string): Message | null {
  const message = parseJsonLine(line);
  return message?.["jsonrpc"] === "2.0" ? (message as unknown as Message) : null;
}
