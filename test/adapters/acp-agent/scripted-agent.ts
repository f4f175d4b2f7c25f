import { writeFileSync } from "node:fs";
import path from "node:path";
import type { ExecutionRequest } from "#contract";
import { createAcpAgentAdapter } from "../../../adapters/acp-agent/index.ts";
import type { AcpAgent } from "../../../adapters/acp-agent/settings.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const agent = path.join(import.meta.dirname, "../../fixtures/programs/acp-agent.js");

/** The command of the scripted agent. It reads its steps from the message, so an operator could configure the same command. */
export const scriptedCommand = [process.execPath, agent];

/** A request that makes the agent play these steps. */
export const playing = (...steps: Record<string, unknown>[]): Partial<ExecutionRequest> => ({ message: JSON.stringify({ steps }) });
/** A request that makes the agent play these steps and end the turn. */
export const doing = (...steps: Record<string, unknown>[]) => playing(...steps, { end: {} });

/** Creates the adapter of the scripted agent, as if it were described in BRIDGE_ACP_AGENTS. */
export const createScriptedAgent = (changes: Partial<AcpAgent> = {}) =>
  createAcpAgentAdapter("scripted", { command: scriptedCommand, env: [], home: "agent", modes: {}, ...changes });

/** Returns a command for an agent that answers `initialize` or `session/new` as scripted, or that lacks methods. */
export async function commandWith(script: { initialize?: object; session?: object; lacks?: string[] }): Promise<string[]> {
  const file = path.join(await temporaryDirectory(), "script.json");
  writeFileSync(file, JSON.stringify(script));
  return [...scriptedCommand, file];
}
