import { readFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { AdapterLogger } from "#contract";
import { isolateErrors } from "../shared/agent-program/isolate-errors.ts";

/** The package that the operator installs; Bridge does not ship it. */
export const packageName = "@anthropic-ai/claude-agent-sdk";

/** The part of the SDK that Bridge uses. It is declared here because the package and its types may not be installed. */
export interface ClaudeAgentSdk {
  query(call: { prompt: AsyncIterable<UserMessage>; options: QueryOptions }): Query;
}

/** A prompt for the SDK. */
export interface UserMessage {
  type: "user";
  message: { role: "user"; content: { type: "text"; text: string }[] };
  parent_tool_use_id: null;
}

/** A running conversation. Iterating over it yields the messages of the program. */
export interface Query extends AsyncIterable<unknown> {
  /** Stops the turn; the program then reports its result. */
  interrupt(): Promise<unknown>;
}

/** Options of the SDK. Only the callbacks are typed. */
export interface QueryOptions extends Record<string, unknown> {
  canUseTool?: CanUseTool;
  spawnClaudeCodeProcess(start: ProgramStart): SdkProcess;
}

/** Decides whether a tool call may run. `signal` is aborted when the program no longer waits for the decision. */
export type CanUseTool = (toolName: string, input: unknown, options: { signal: AbortSignal; toolUseID: string }) => Promise<Permission>;
export type Permission = { behavior: "allow"; updatedInput: unknown } | { behavior: "deny"; message: string };

/** The command that the SDK wants to start. */
export interface ProgramStart {
  command: string;
  args: string[];
  env: Record<string, string | undefined>;
}

/** The part of a child process that the SDK uses. */
export interface SdkProcess {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  once(event: string, listener: (...values: unknown[]) => void): unknown;
  off(event: string, listener: (...values: unknown[]) => void): unknown;
}

/** An installation of the package. */
export interface InstalledSdk {
  module: string;
  version: string;
}

const manifestSchema = z.object({ version: z.string() });

/** Resolves the package from a directory, which may be the package's own directory; null if it is not installed. */
export function findInstalledSdk(directory: string): InstalledSdk | null {
  const from = path.join(path.resolve(directory), "index.js");
  try {
    const manifest = findPackageJSON(packageName, from);
    if (manifest === undefined) return null;
    const { version } = manifestSchema.parse(JSON.parse(readFileSync(manifest, "utf8")));
    return { module: createRequire(from).resolve(packageName), version };
  } catch {
    return null;
  }
}

/**
 * Creates a handler that logs errors of SDK code that no caller awaits. They do not fail the task; a task that hangs ends by its limits.
 */
export const createFaultLog =
  (logger: AdapterLogger, fields: object = {}) =>
  (err: unknown): void =>
    logger.error({ ...fields, err }, "uncaught error in the Claude Agent SDK");

/** Loads the package. Rejects with a message for the operator if the package has no `query` function. */
export async function loadSdk(module: string, logger: AdapterLogger): Promise<ClaudeAgentSdk> {
  const loaded: Partial<ClaudeAgentSdk> = await isolateErrors(createFaultLog(logger), () => import(pathToFileURL(module).href));
  if (typeof loaded.query !== "function")
    throw new Error(`${packageName} does not export query(). Install the version that Bridge is tested with.`);
  return loaded as ClaudeAgentSdk;
}
