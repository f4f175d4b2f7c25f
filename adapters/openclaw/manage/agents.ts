import { z } from "zod";
import { type AgentFields, type AgentRecord, ManagementError } from "#contract";
import { checkAgentFields, checkAgentId } from "./agent-fields.ts";
import { describeAgent, getAgent, readAgents } from "./agent-records.ts";
import { changeConfig, readConfig } from "./gateway-config.ts";
import { anyResponse, callGateway, expectMatch, type ManageContext, waitUntilVisible, withoutSignal } from "./manage-context.ts";
import { isMissingAgent } from "./management-errors.ts";

const WRITE_LIMIT_MS = 45_000;
/** The agent of a fresh gateway; others may work inside its workspace. */
const FIRST_AGENT = "main";
const createdSchema = z.object({ agentId: z.string() });
const deletedSchema = z.object({ purgeFailed: z.boolean().default(false), failed: z.array(z.unknown()).default([]) });
const tasksSchema = z.object({ tasks: z.array(z.unknown()) });

/** Makes an agent of exactly this id; resolves when the gateway lets it work. */
export async function createAgent(context: ManageContext, agentId: string, fields: AgentFields): Promise<AgentRecord> {
  checkAgentId(agentId);
  await checkAgentFields(context, fields);
  if (await isListed(context, agentId)) throw new ManagementError("conflict", `There is an agent ${agentId} already.`);
  const { model, workspace = await defaultWorkspace(context, agentId), ...others } = dropNulls(fields);
  context.signal?.throwIfAborted();
  const begun = withoutSignal(context);
  await createNamed(begun, agentId, {
    ...(typeof model === "string" ? { model } : {}),
    ...(workspace === undefined ? {} : { workspace }),
  });
  if (Object.keys(others).length > 0) {
    try {
      await changeAgent(begun, agentId, others);
    } catch (error) {
      // Half an agent is not what was asked for.
      await removeAgent(begun, agentId);
      throw error;
    }
  }
  return await expectAgent(begun, agentId);
}

/** Changes what is given, all at once or nothing; null: there is no such agent. */
export async function updateAgent(
  context: ManageContext,
  agentId: string,
  changes: AgentFields,
  ifMatch?: string,
): Promise<AgentRecord | null> {
  await checkAgentFields(context, changes);
  const current = await getAgent(context, agentId);
  if (current === null) return null;
  expectMatch(ifMatch, current.etag, `The agent ${agentId}`);
  if (Object.keys(changes).length > 0) await changeAgent(withoutSignal(context), agentId, changes, ifMatch);
  return await getAgent(context, agentId);
}

/** Deletes an agent that does nothing; its workspace and its state go to the trash of the gateway's user. False: there is none. */
export async function deleteAgent(context: ManageContext, agentId: string, ifMatch?: string): Promise<boolean> {
  const record = await getAgent(context, agentId);
  if (record !== null && (record["isDefault"] === true || agentId === FIRST_AGENT))
    throw new ManagementError(
      "conflict",
      `${agentId} is the gateway's first or default agent, in whose workspace others may work; it is not deleted.`,
    );
  if (record === null && ifMatch !== undefined) return false;
  expectMatch(ifMatch, record?.etag ?? null, `The agent ${agentId}`);
  const { tasks } = await callGateway(context, tasksSchema, "tasks.list", { agentId, status: ["running", "queued"] });
  if (tasks.length > 0)
    throw new ManagementError(
      "conflict",
      `The agent ${agentId} works: ${tasks.length} run(s). Cancel its tasks (POST /api/v2/tasks/{taskId}/cancel), or wait for their end; what others have started is stopped at the gateway. Then delete it.`,
    );
  return await removeAgent(withoutSignal(context), agentId);
}

/**
 * Beside the workspace that the operator has set for all agents, as the gateway does it where none is set: inside of it, where it would be
 * by default, its files would stay when the agent is deleted, and come back with the next of its name.
 */
async function defaultWorkspace(context: ManageContext, agentId: string): Promise<string | undefined> {
  const shared = (await readConfig(context)).sourceConfig.agents?.defaults?.workspace;
  return shared === undefined ? undefined : `${shared.replace(/[/\\]+$/, "")}-${agentId}`;
}

/** Made under its id as a name, because the gateway makes the id out of the name. */
async function createNamed(context: ManageContext, agentId: string, given: object): Promise<void> {
  const { agentId: created } = await callGateway(
    context,
    createdSchema,
    "agents.create",
    { name: agentId, ...given },
    { timeoutMs: WRITE_LIMIT_MS },
  ).catch(explainCreation);
  await waitUntilVisible(context, async () => await isListed(context, created), `The agent ${created} was made`);
  if (created === agentId) return;
  await removeAgent(context, created);
  throw new ManagementError("invalid_request", `The gateway would call this agent ${created}; use that as its id.`);
}

/** One write of the configuration, with the hash of what was read; then the files that follow from the name and the workspace. */
async function changeAgent(context: ManageContext, agentId: string, changes: AgentFields, ifMatch?: string): Promise<void> {
  const agents = await readAgents(context);
  await changeConfig(context, (config) => {
    const current = describeAgent(agentId, agents, config);
    if (config.sourceConfig.agents?.entries?.[agentId] === undefined || current === null)
      throw new ManagementError("not_found", `The gateway's configuration has no agent ${agentId}.`);
    expectMatch(ifMatch, current.etag, `The agent ${agentId}`);
    return { agents: { entries: { [agentId]: withIdentity(changes) } } };
  });
  const { name, workspace } = dropNulls(changes);
  if (name === undefined && workspace === undefined) return;
  const told = { ...(name === undefined ? {} : { name }), ...(workspace === undefined ? {} : { workspace }) };
  await callGateway(context, anyResponse, "agents.update", { agentId, ...told }, { timeoutMs: WRITE_LIMIT_MS });
}

/** By its name an agent knows itself, too. */
const withIdentity = (changes: AgentFields): AgentFields =>
  "name" in changes && !("identity" in changes) ? { ...changes, identity: { name: changes.name } } : changes;

/** Runs that began in between keep files of the agent open; the gateway then wants to be asked again. False: there is no such agent. */
async function removeAgent(context: ManageContext, agentId: string): Promise<boolean> {
  const isGone = async (): Promise<boolean> => {
    const { purgeFailed, failed } = await callGateway(
      context,
      deletedSchema,
      "agents.delete",
      { agentId, deleteFiles: true },
      { timeoutMs: WRITE_LIMIT_MS },
    );
    return !purgeFailed && failed.length === 0;
  };
  try {
    await waitUntilVisible(context, isGone, `The agent ${agentId} is deleted`);
  } catch (error) {
    if (isMissingAgent(error)) return false;
    throw error;
  }
  await waitUntilVisible(context, async () => !(await isListed(context, agentId)), `The agent ${agentId} is deleted`);
  return true;
}

const isListed = async (context: ManageContext, agentId: string): Promise<boolean> =>
  (await readAgents(context)).agents.some(({ id }) => id === agentId);

async function expectAgent(context: ManageContext, agentId: string): Promise<AgentRecord> {
  const agent = await getAgent(context, agentId);
  if (agent === null) throw new ManagementError("conflict", `The agent ${agentId} was made, and deleted by somebody else.`);
  return agent;
}

function explainCreation(error: unknown): never {
  const told = error instanceof Error ? error.message : "";
  if (told.endsWith("already exists")) throw new ManagementError("conflict", `${told}.`, { cause: error });
  if (told.includes("cleanup is still pending"))
    throw new ManagementError("conflict", `${told}: delete it once more, then make it.`, { cause: error });
  throw error;
}

const dropNulls = (fields: AgentFields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
