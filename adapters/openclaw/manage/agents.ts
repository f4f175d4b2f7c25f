import { z } from "zod";
import { type AgentFields, type AgentRecord, ManagementError } from "#contract";
import { checkAgentFields, checkAgentId } from "./agent-fields.ts";
import { describeAgent, getAgent, readAgents } from "./agent-records.ts";
import { changeConfig, readConfig } from "./gateway-config.ts";
import { anyResponse, callGateway, expectMatch, type ManageContext, removeSignal, waitUntilVisible } from "./manage-context.ts";
import { isMissingAgent } from "./management-errors.ts";

const WRITE_LIMIT_MS = 45_000;
/** The agent of a new gateway. Workspaces of other agents may be inside its workspace. */
const FIRST_AGENT = "main";
const createdSchema = z.object({ agentId: z.string() });
const deletedSchema = z.object({ purgeFailed: z.boolean().default(false), failed: z.array(z.unknown()).default([]) });
const tasksSchema = z.object({ tasks: z.array(z.unknown()) });

/** Creates an agent with exactly this id. Resolves when the gateway has loaded it. */
export async function createAgent(context: ManageContext, agentId: string, fields: AgentFields): Promise<AgentRecord> {
  checkAgentId(agentId);
  await checkAgentFields(context, fields);
  if (await isListed(context, agentId)) throw new ManagementError("conflict", `The agent ${agentId} already exists.`);
  const { model, workspace = await chooseWorkspace(context, agentId), ...others } = dropNulls(fields);
  context.signal?.throwIfAborted();
  const uncancelable = removeSignal(context);
  await createWithId(uncancelable, agentId, {
    ...(typeof model === "string" ? { model } : {}),
    ...(workspace === undefined ? {} : { workspace }),
  });
  if (Object.keys(others).length > 0) {
    try {
      await changeAgent(uncancelable, agentId, others);
    } catch (error) {
      // Do not leave an incomplete agent.
      await removeAgent(uncancelable, agentId);
      throw error;
    }
  }
  return await expectAgent(uncancelable, agentId);
}

/** Changes the specified fields atomically; null if the agent does not exist. */
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
  if (Object.keys(changes).length > 0) await changeAgent(removeSignal(context), agentId, changes, ifMatch);
  return await getAgent(context, agentId);
}

/** Deletes an idle agent; the gateway moves its workspace and state to the trash. Returns false if the agent does not exist. */
export async function deleteAgent(context: ManageContext, agentId: string, ifMatch?: string): Promise<boolean> {
  const record = await getAgent(context, agentId);
  if (record !== null && (record["isDefault"] === true || agentId === FIRST_AGENT))
    throw new ManagementError(
      "conflict",
      `${agentId} cannot be deleted: it is the gateway's first or default agent, and its workspace may contain those of other agents.`,
    );
  if (record === null && ifMatch !== undefined) return false;
  expectMatch(ifMatch, record?.etag ?? null, `The agent ${agentId}`);
  const { tasks } = await callGateway(context, tasksSchema, "tasks.list", { agentId, status: ["running", "queued"] });
  if (tasks.length > 0)
    throw new ManagementError(
      "conflict",
      `The agent ${agentId} has ${tasks.length} active run(s). Cancel its tasks (POST /api/v2/tasks/{taskId}/cancel) or wait until they end, stop runs of other clients at the gateway, and then delete the agent.`,
    );
  return await removeAgent(removeSignal(context), agentId);
}

/**
 * Returns a workspace next to the one that the operator set for all agents; undefined if none is set. By default, the gateway would create
 * the new workspace inside the operator's. The gateway would then not remove the files of a deleted agent, and the next agent with the same
 * id would get them.
 */
async function chooseWorkspace(context: ManageContext, agentId: string): Promise<string | undefined> {
  const shared = (await readConfig(context)).sourceConfig.agents?.defaults?.workspace;
  return shared === undefined ? undefined : `${shared.replace(/[/\\]+$/, "")}-${agentId}`;
}

/** Creates an agent. Passes the id as the name, because the gateway derives the id from the name. */
async function createWithId(context: ManageContext, agentId: string, fields: object): Promise<void> {
  const { agentId: createdId } = await callGateway(
    context,
    createdSchema,
    "agents.create",
    { name: agentId, ...fields },
    { timeoutMs: WRITE_LIMIT_MS },
  ).catch(explainCreation);
  await waitUntilVisible(context, async () => await isListed(context, createdId), `The agent ${createdId} was created`);
  if (createdId === agentId) return;
  await removeAgent(context, createdId);
  throw new ManagementError("invalid_request", `id: the gateway changes this id to ${createdId}. Use ${createdId}.`);
}

/**
 * Writes the configuration once, with the hash of the version that was read, and then updates the files that depend on name and workspace.
 */
async function changeAgent(context: ManageContext, agentId: string, changes: AgentFields, ifMatch?: string): Promise<void> {
  const agents = await readAgents(context);
  await changeConfig(context, (config) => {
    const current = describeAgent(agentId, agents, config);
    if (config.sourceConfig.agents?.entries?.[agentId] === undefined || current === null)
      throw new ManagementError("not_found", `The gateway's configuration has no agent ${agentId}.`);
    expectMatch(ifMatch, current.etag, `The agent ${agentId}`);
    return { agents: { entries: { [agentId]: addIdentity(changes) } } };
  });
  const { name, workspace } = dropNulls(changes);
  if (name === undefined && workspace === undefined) return;
  const params = { ...(name === undefined ? {} : { name }), ...(workspace === undefined ? {} : { workspace }) };
  await callGateway(context, anyResponse, "agents.update", { agentId, ...params }, { timeoutMs: WRITE_LIMIT_MS });
}

/** Also sets the name in the agent's identity, which is part of its prompt. */
const addIdentity = (changes: AgentFields): AgentFields =>
  "name" in changes && !("identity" in changes) ? { ...changes, identity: { name: changes.name } } : changes;

/** Deletes an agent. Repeats the call while active runs use files of the agent. Returns false if the agent does not exist. */
async function removeAgent(context: ManageContext, agentId: string): Promise<boolean> {
  const tryDelete = async (): Promise<boolean> => {
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
    await waitUntilVisible(context, tryDelete, `The agent ${agentId} is deleted`);
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
  if (agent === null) throw new ManagementError("conflict", `The agent ${agentId} was created, but another client has deleted it.`);
  return agent;
}

function explainCreation(error: unknown): never {
  const message = error instanceof Error ? error.message : "";
  if (message.endsWith("already exists")) throw new ManagementError("conflict", `${message}.`, { cause: error });
  if (message.includes("cleanup is still pending"))
    throw new ManagementError("conflict", `${message}. Delete the agent again, and then create it.`, { cause: error });
  throw error;
}

const dropNulls = (fields: AgentFields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
