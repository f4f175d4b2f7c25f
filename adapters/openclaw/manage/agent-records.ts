import { z } from "zod";
import type { AgentRecord } from "#contract";
import { recordEtag } from "./etag.ts";
import { type GatewayConfig, readConfig } from "./gateway-config.ts";
import { callGateway, type ManageContext } from "./manage-context.ts";

const agentsSchema = z.object({
  defaultId: z.string().nullish(),
  /** With several agents there need not be a default one; then the first is named. */
  selectionRequired: z.boolean().default(false),
  agents: z.array(z.object({ id: z.string(), workspace: z.string().optional() })),
});
const modelSchema = z.union([z.string(), z.object({ primary: z.string() }).transform(({ primary }) => primary)]);

/** The agents that the gateway works with now. */
export type GatewayAgents = z.infer<typeof agentsSchema>;

/** Which agents there are; one that was just made may still be missing. */
export const readAgents = (context: ManageContext): Promise<GatewayAgents> => callGateway(context, agentsSchema, "agents.list");

/** The agent that stands for the gateway: its default one, else the first. */
export async function readDefaultAgent(context: ManageContext): Promise<string> {
  const { defaultId, agents } = await readAgents(context);
  return defaultId ?? agents[0]?.id ?? "main";
}

/** All agents, as they are configured. */
export async function listAgents(context: ManageContext): Promise<AgentRecord[]> {
  const [agents, config] = await Promise.all([readAgents(context), readConfig(context)]);
  return agents.agents.map(({ id }) => describeAgent(id, agents, config) as AgentRecord);
}

/** One agent; null: there is none of this id. */
export async function getAgent(context: ManageContext, agentId: string): Promise<AgentRecord | null> {
  const [agents, config] = await Promise.all([readAgents(context), readConfig(context)]);
  return describeAgent(agentId, agents, config);
}

/** The record of an agent: what is configured for it alone, and where its files are. Where its private state is stays the gateway's own business. */
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
    // The fallbacks of a model are told, too.
    ...(typeof model === "object" ? { modelSelection: model } : {}),
    ...(agent.workspace === undefined ? {} : { workspace: agent.workspace }),
    isDefault: agentId === defaultId && !selectionRequired,
    id: agentId,
  };
  return { ...record, etag: recordEtag({ ...record, isDefault: null }) };
}
