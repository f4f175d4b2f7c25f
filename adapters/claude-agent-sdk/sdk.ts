import { readFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { AdapterLogger } from "#contract";
import { isolateErrors } from "../shared/agent-program/isolate-errors.ts";

/** The package that the operator installs; it is not Bridge's to ship. */
export const packageName = "@anthropic-ai/claude-agent-sdk";

/** What of the SDK Bridge uses, in words of its own: the package, and so its types, need not be there. */
export interface ClaudeAgentSdk {
  query(call: { prompt: AsyncIterable<UserMessage>; options: QueryOptions }): Query;
}

/** What the SDK hears from Bridge. */
export interface UserMessage {
  type: "user";
  message: { role: "user"; content: { type: "text"; text: string }[] };
  parent_tool_use_id: null;
}

/** A conversation under way: what the program tells, message by message. */
export interface Query extends AsyncIterable<unknown> {
  /** Stops the turn; the program then tells its result. */
  interrupt(): Promise<unknown>;
}

/** Options of the SDK by its own names; those that Bridge calls back through are spelled out. */
export interface QueryOptions extends Record<string, unknown> {
  canUseTool?: CanUseTool;
  spawnClaudeCodeProcess(start: ProgramStart): SdkProcess;
}

/** Asks before a tool call. `signal` is aborted when the program no longer wants to know. */
export type CanUseTool = (toolName: string, input: unknown, asked: { signal: AbortSignal; toolUseID: string }) => Promise<Permission>;
export type Permission = { behavior: "allow"; updatedInput: unknown } | { behavior: "deny"; message: string };

/** What the SDK wants to be started. */
export interface ProgramStart {
  command: string;
  args: string[];
  env: Record<string, string | undefined>;
}

/** What the SDK needs of a process. */
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

/** The package as a module in that directory would find it, which may also be the package's own; null when there is none. */
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

/** Says where the SDK has failed and nobody waits for it. That need not keep a task from its end; what does is for the limits of every task. */
export const createFaultLog =
  (logger: AdapterLogger, fields: object = {}) =>
  (err: unknown): void =>
    logger.error({ ...fields, err }, "the Claude Agent SDK has failed where nobody waits for it");

/** Loads the package; rejects in words for the operator when it is not what Bridge knows by that name. */
export async function loadSdk(module: string, logger: AdapterLogger): Promise<ClaudeAgentSdk> {
  const loaded: Partial<ClaudeAgentSdk> = await isolateErrors(createFaultLog(logger), () => import(pathToFileURL(module).href));
  if (typeof loaded.query !== "function")
    throw new Error(`${packageName} has no query(): install the version that Bridge was tested with.`);
  return loaded as ClaudeAgentSdk;
}
