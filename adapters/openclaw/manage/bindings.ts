import { z } from "zod";
import { type AgentBinding, type AgentBindings, ManagementError } from "#contract";
import { readAgents } from "./agent-records.ts";
import { createRecordEtag } from "./etag.ts";
import { changeConfig, type GatewayConfig, readConfig } from "./gateway-config.ts";
import { expectMatch, type ManageContext } from "./manage-context.ts";

/** The gateway checks the other fields. Its errors contain the index in the bindings of all agents. */
const bindingSchema = z.looseObject({ match: z.looseObject({ channel: z.string().min(1) }) });

/** Lists the bindings of an agent to chat channels; null if the agent does not exist. */
export async function listBindings(context: ManageContext, agentId: string): Promise<AgentBindings | null> {
  const [{ agents }, config] = await Promise.all([readAgents(context), readConfig(context)]);
  return agents.some(({ id }) => id === agentId) ? bindingsOf(config, agentId) : null;
}

/** Replaces the bindings of one agent. Bindings of other agents keep their order. */
export async function setBindings(
  context: ManageContext,
  agentId: string,
  bindings: AgentBinding[],
  ifMatch?: string,
): Promise<AgentBindings> {
  const { agents } = await readAgents(context);
  if (!agents.some(({ id }) => id === agentId)) throw new ManagementError("not_found", `The agent ${agentId} does not exist.`);
  const agentBindings = bindings.map((binding, index) => {
    if (binding["agentId"] !== undefined && binding["agentId"] !== agentId)
      throw new ManagementError("invalid_request", `bindings[${index}].agentId: must be ${agentId} or omitted.`);
    const fault = bindingSchema.safeParse(binding).error?.issues[0];
    if (fault !== undefined) throw new ManagementError("invalid_request", `bindings[${index}].${fault.path.join(".")}: ${fault.message}`);
    return { ...binding, agentId };
  });
  await changeConfig(context, (config) => {
    expectMatch(ifMatch, bindingsOf(config, agentId).etag, `The list of bindings of the agent ${agentId}`);
    return { bindings: replaceBindings(config.sourceConfig.bindings ?? [], agentBindings, agentId) };
  });
  return bindingsOf(await readConfig(context), agentId);
}

function bindingsOf({ sourceConfig }: GatewayConfig, agentId: string): AgentBindings {
  const bindings = (sourceConfig.bindings ?? []).filter((binding) => binding["agentId"] === agentId);
  return { bindings, etag: createRecordEtag(bindings) };
}

/**
 * Replaces the bindings of one agent, at the position of its first one. The order matters: the gateway uses the first binding that matches.
 */
function replaceBindings(all: readonly AgentBinding[], own: readonly AgentBinding[], agentId: string): AgentBinding[] {
  const isOwn = (binding: AgentBinding): boolean => binding["agentId"] === agentId;
  const first = all.findIndex(isOwn);
  const position = first === -1 ? all.length : first;
  return [...all.slice(0, position), ...own, ...all.slice(position).filter((binding) => !isOwn(binding))];
}
