import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AdapterCapabilities, ExecutionAdapter } from "#contract";
import type { AcpProfile } from "../../../../adapters/shared/acp/acp-profile.ts";
import { createAcpConnection } from "../../../../adapters/shared/acp/create-acp-connection.ts";
import { createProgramAdapter } from "../../../../adapters/shared/agent-program/create-program-adapter.ts";

const agent = path.join(import.meta.dirname, "../../../fixtures/programs/acp-agent.js");

const capabilities: AdapterCapabilities = {
  streaming: true,
  sessionResume: true,
  fileIo: true,
  mcpServers: true,
  tools: false,
  sandboxing: false,
  costTracking: true,
  management: false,
  approvals: false,
  cancellation: true,
  outputStrategies: ["stream", "file", "structured"],
};

/** The script of the agent: how it starts, which signals it ignores, and the steps of its turn. */
export interface Script {
  initialize?: object;
  resumes?: boolean;
  session?: { error?: { code: number; message: string; data?: unknown } };
  ignores?: ("initialize" | "cancel" | "EOF" | "SIGTERM")[];
  steps?: Record<string, unknown>[];
}

/** The metadata of a task that runs a script. */
export const scripted = (script: Script) => ({ metadata: { script } });
/** The metadata of a task whose turn succeeds. */
export const doing = (...steps: Record<string, unknown>[]) => scripted({ steps: [...steps, { end: {} }] });

/** The profile of the scripted agent: a task's metadata is its script. */
export const scriptedProfile: AcpProfile = {
  capabilities,
  // Most scripts write no text.
  emptyAnswers: "accepted",
  find: () => ({ argv: [process.execPath, agent] }),
  launch: (argv, { request: { directories, metadata } }) => launch(argv, directories.tmp, metadata?.["script"] ?? {}),
  launchProbe: (argv, { dataDir, settings }) => launch(argv, dataDir, settings.config ?? {}),
  usageOf: (response) => ("usage" in response ? (response.usage as { inputTokens: number; outputTokens: number }) : undefined),
};

function launch(argv: readonly string[], directory: string, script: unknown) {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, "script.json");
  writeFileSync(file, JSON.stringify(script));
  return { argv: [...argv, file], env: { PATH: process.env["PATH"] ?? "" } };
}

/** An adapter of the scripted agent; `profile` overrides fields of its profile. */
export const createScriptedAdapter = (profile: Partial<AcpProfile> = {}): Required<ExecutionAdapter> =>
  createProgramAdapter({
    provider: "scripted",
    connections: [createAcpConnection({ ...scriptedProfile, ...profile })],
    findCredentials: async () => ({ ok: true, detail: "none needed" }),
    multiAgent: "none",
    timeoutMultiplier: 1,
  });

/** The messages that the agent with this home received, in their order: the parameters by method. */
export const received = (home: string): { method?: string; params?: Record<string, unknown> }[] =>
  readLines(path.join(home, "received.jsonl"));

/** The answers to the permission requests of the agent with this home. */
export const answers = (home: string): unknown[] => readLines(path.join(home, "answers.jsonl"));

function readLines<T>(file: string): T[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
