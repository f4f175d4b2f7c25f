import { writeFileSync } from "node:fs";
import path from "node:path";
import type { ExecutionRequest } from "#contract";
import { type AcpAgent, createAcpAgentAdapter } from "../../../adapters/acp-agent/index.ts";
import { temporaryDirectory } from "../../temporary-directory.ts";

const agent = path.join(import.meta.dirname, "../../fixtures/programs/acp-agent.js");

/** The scripted agent as an operator would name it: its steps come with the message, so it is started as any other. */
export const scriptedCommand = [process.execPath, agent];

/** A task that plays these steps. */
export const playing = (...steps: Record<string, unknown>[]): Partial<ExecutionRequest> => ({ message: JSON.stringify({ steps }) });
/** The same for a turn that goes well. */
export const doing = (...steps: Record<string, unknown>[]) => playing(...steps, { end: {} });

/** The adapter of the scripted agent, described in BRIDGE_ACP_AGENTS so far. */
export const createScriptedAgent = (changes: Partial<AcpAgent> = {}) =>
  createAcpAgentAdapter("scripted", { command: scriptedCommand, env: [], home: "agent", modes: {}, ...changes });

/** How to start it where it is to say other things of itself, or of its sessions. */
export async function commandWith(script: { initialize?: object; session?: object; lacks?: string[] }): Promise<string[]> {
  const file = path.join(await temporaryDirectory(), "script.json");
  writeFileSync(file, JSON.stringify(script));
  return [...scriptedCommand, file];
}
