import { z } from "zod";
import type { AgentRecord } from "#contract";
import { createRecordEtag } from "./etag.ts";
import { type GatewayConfig, readConfig } from "./gateway-config.ts";
import { callGateway, type ManageContext } from "./manage-context.ts";

const agentsSchema = z.object({
  defaultId: z.string().nullish(),
  /** True if several agents exist and none is the default; `defaultId` is then the first agent. */
  selectionRequired: z.boolean().default(false),
  agents: z.array(z.object({ id: z.string(), workspace: z.string().optional() })),
});
const modelSchema = z.union([z.string(), z.object({ primary: z.string() }).transform(({ primary }) => primary)]);

/** The agents that the gateway has loaded. */
export type GatewayAgents = z.infer<typeof agentsSchema>;

/** Lists the loaded agents. An agent that was just created may be missing. */
export const readAgents = (context: ManageContext): Promise<GatewayAgents> => callGateway(context, agentsSchema, "agents.list");

/** Returns the id of the agent that represents the gateway: the default agent, else the first. */
export async function readDefaultAgent(context: ManageContext): Promise<string> {
  const { defaultId, agents } = await readAgents(context);
  return defaultId ?? agents[0]?.id ?? "main";
}

/** Lists all agents with their configuration. */
export async function listAgents(context: ManageContext): Promise<AgentRecord[]> {
  const [agents, config] = await Promise.all([readAgents(context), readConfig(context)]);
  return agents.agents.map(({ id }) => describeAgent(id, agents, config) as AgentRecord);
}

/** Returns one agent; null if it does not exist. */
export async function getAgent(context: ManageContext, agentId: string): Promise<AgentRecord | null> {
  const [agents, config] = await Promise.all([readAgents(context), readConfig(context)]);
  return describeAgent(agentId, agents, config);
}

/** Builds the record of an agent from its configuration and its workspace. Omits the directory of its private state. */
export function describeAgent(
  agentId: string,
  { agents, defaultId, selectionRequired }: GatewayAgents,
  config: GatewayConfig,
): AgentRecord | null {
  const agent = agents.find(({ id }) => id === agentId);
  if (agent === undefined) return null;
  const { agentDir: _, model, ...fields } = config.sourceConfig.agents?.entries?.[agentId] ?? {};
  const modelName = modelSchema.safeParse(model).data;
  const record = {
    ...fields,
    ...(modelName === undefined ? {} : { model: modelName }),
    // Also contains the fallbacks of the model.
    ...(typeof model === "object" ? { modelSelection: model } : {}),
    ...(agent.workspace === undefined ? {} : { workspace: agent.workspace }),
    isDefault: agentId === defaultId && !selectionRequired,
    id: agentId,
  };
  return { ...record, etag: createRecordEtag({ ...record, isDefault: null }) };
}
