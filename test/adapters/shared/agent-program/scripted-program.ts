import { lookup } from "node:dns";
import path from "node:path";
import type { AdapterCapabilities } from "#contract";
import type {
  AgentProgram,
  ConnectionResult,
  ProgramConnection,
  ProgramContext,
  ProgramTask,
} from "../../../../adapters/shared/agent-program/agent-program.ts";
import { createProgramEnvironment } from "../../../../adapters/shared/agent-program/program-environment.ts";
import { runProgram, type Step } from "../../../../adapters/shared/agent-program/run-program.ts";
import { programSettingsSchema } from "../../../../adapters/shared/agent-program/settings.ts";

const agent = path.join(import.meta.dirname, "../../../fixtures/programs/scripted-agent.js");

/** A small agent program: the scripted agent, which reports in JSON lines the steps of a request's `metadata.does`. */
export function scriptedProgram(...connections: ProgramConnection[]): AgentProgram {
  return {
    provider: "scripted",
    connections: connections.length === 0 ? [scriptedConnection()] : connections,
    findCredentials: async () => ({ ok: true, detail: "It needs none." }),
    multiAgent: "One agent in each task.",
    timeoutMultiplier: 1.5,
  };
}

/** A connection with the capabilities of the scripted agent; `changes` overrides its fields. */
export function scriptedConnection({ capabilities = {}, ...changes }: ConnectionChanges = {}): ProgramConnection {
  return {
    name: "cli",
    capabilities: { ...abilities, ...capabilities },
    find: () => ({ argv: [process.execPath, agent] }),
    probe: async () => ({ version: "1.2.3", detail: "The scripted agent." }),
    execute: runScripted,
    ...changes,
  };
}
type ConnectionChanges = Partial<Omit<ProgramConnection, "capabilities">> & { capabilities?: Partial<AdapterCapabilities> };

/** A program context for tests of single parts. */
export function programContext(dataDir: string, changes: Partial<ProgramContext> = {}): ProgramContext {
  const quiet = (): void => {};
  return {
    settings: programSettingsSchema.parse({}),
    env: { PATH: process.env["PATH"] },
    dataDir,
    filesDir: dataDir,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    sandbox: null,
    retentionDays: 7,
    fetch,
    lookup,
    onOrphansKilled: quiet,
    requestApproval: async () => ({ decision: "reject", reason: null }),
    mayCallModel: async () => ({ allowed: true }),
    onModelLimited: quiet,
    ...changes,
  };
}

function runScripted(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult> {
  return runProgram(task, {
    argv,
    env: createProgramEnvironment(task.context, []),
    input: JSON.stringify(task.request),
    read: readScripted,
  });
}

/** Reads the lines of the command adapter: events and a result. */
function readScripted({ type, ...fields }: Record<string, unknown>): readonly Step[] {
  if (type === "assistant.text") return [{ kind: "text", text: String(fields["content"]) }];
  if (type !== "result") return [{ kind: type, ...fields } as Step];
  const { status = "ok", errorCode, error, ...facts } = fields;
  return [
    { kind: "facts", facts },
    { kind: "ended", outcome: { status, ...(errorCode !== undefined && { errorCode, error }) } as ConnectionResult },
  ];
}

const abilities: AdapterCapabilities = {
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
