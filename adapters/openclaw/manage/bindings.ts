import { z } from "zod";
import { type AgentBinding, type AgentBindings, ManagementError } from "#contract";
import { readAgents } from "./agent-records.ts";
import { recordEtag } from "./etag.ts";
import { changeConfig, type GatewayConfig, readConfig } from "./gateway-config.ts";
import { expectMatch, type ManageContext } from "./manage-context.ts";

/** The rest is the gateway's to check; it tells the place in the bindings of all agents. */
const bindingSchema = z.looseObject({ match: z.looseObject({ channel: z.string().min(1) }) });

/** What binds an agent to chat channels; null: there is no such agent. */
export async function listBindings(context: ManageContext, agentId: string): Promise<AgentBindings | null> {
  const [{ agents }, config] = await Promise.all([readAgents(context), readConfig(context)]);
  return agents.some(({ id }) => id === agentId) ? bindingsOf(config, agentId) : null;
}

/** Replaces the bindings of one agent; those of others keep their places and their order. */
export async function setBindings(
  context: ManageContext,
  agentId: string,
  bindings: AgentBinding[],
  ifMatch?: string,
): Promise<AgentBindings> {
  const { agents } = await readAgents(context);
  if (!agents.some(({ id }) => id === agentId)) throw new ManagementError("not_found", `There is no agent ${agentId}.`);
  const own = bindings.map((binding, index) => {
    if (binding["agentId"] !== undefined && binding["agentId"] !== agentId)
      throw new ManagementError("invalid_request", `bindings[${index}].agentId: is another agent; leave it out.`);
    const fault = bindingSchema.safeParse(binding).error?.issues[0];
    if (fault !== undefined) throw new ManagementError("invalid_request", `bindings[${index}].${fault.path.join(".")}: ${fault.message}`);
    return { ...binding, agentId };
  });
  await changeConfig(context, (config) => {
    expectMatch(ifMatch, bindingsOf(config, agentId).etag, `What binds the agent ${agentId}`);
    return { bindings: replaceOwn(config.sourceConfig.bindings ?? [], own, agentId) };
  });
  return bindingsOf(await readConfig(context), agentId);
}

function bindingsOf({ sourceConfig }: GatewayConfig, agentId: string): AgentBindings {
  const bindings = (sourceConfig.bindings ?? []).filter((binding) => binding["agentId"] === agentId);
  return { bindings, etag: recordEtag(bindings) };
}

/** The first that fits counts, so the new ones stand where the first of the old ones stood. */
function replaceOwn(all: readonly AgentBinding[], own: readonly AgentBinding[], agentId: string): AgentBinding[] {
  const isOwn = (binding: AgentBinding): boolean => binding["agentId"] === agentId;
  const first = all.findIndex(isOwn);
  const place = first === -1 ? all.length : first;
  return [...all.slice(0, place), ...own, ...all.slice(place).filter((binding) => !isOwn(binding))];
}
