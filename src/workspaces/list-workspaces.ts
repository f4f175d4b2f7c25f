import { opendir, stat } from "node:fs/promises";
import path from "node:path";
import { createTurns } from "@hak2i/async-kit";
import { agentIdPattern } from "../requests/dispatch-schema.ts";
import type { Store } from "../store/store.ts";

/** Maximum workspaces in one list. */
export const MAX_WORKSPACES = 1000;

/** Maximum entries that are read from a tenant's directory. Further workspaces are listed only if they have tasks. */
const MAX_DIRECTORIES = 10_000;

/** The workspace of an agent, as clients see it. */
export interface Workspace {
  /** Unique among the tenant's workspaces of its kind. */
  id: string;
  kind: "agent";
  agentId: string;
  /** Number of stored tasks of the agent. */
  tasks: number;
  /**
   * Time of the last start or end of its newest task, in ms since the epoch. Without tasks, the time of the last change of its directory.
   */
  updatedAt: number;
}

export type WorkspaceList = ReturnType<typeof createWorkspaceList>;

/** Creates the list of workspaces: agents with tasks, and agents whose directory an operator has created. */
export function createWorkspaceList({
  store,
  workspacesDir,
}: {
  store: Pick<Store, "listAgents" | "listAgentsByName">;
  workspacesDir: string;
}) {
  // Serializes the requests of one tenant, because each of them counts the tasks of the tenant.
  const turns = createTurns();

  /** Lists the tenant's workspaces, newest first, at most `MAX_WORKSPACES`. */
  async function listWorkspaces(tenant: string): Promise<Workspace[]> {
    const agents = await store.listAgents(tenant, MAX_WORKSPACES);
    // If the list is full, agents with tasks may be missing in it, so a directory does not mean that its agent has no tasks.
    const directories = agents.length === MAX_WORKSPACES ? [] : await listDirectories(path.join(workspacesDir, tenant));
    const agentIds = new Set(agents.map(({ agentId }) => agentId));
    return [...agents, ...directories.filter(({ agentId }) => !agentIds.has(agentId))]
      .toSorted((one, other) => other.updatedAt - one.updatedAt)
      .slice(0, MAX_WORKSPACES)
      .map(toWorkspace);
  }

  /** Returns one page of all workspaces, ordered by `agentId`. `next` is the `after` of the following page, null at the end. */
  async function pageWorkspaces(
    tenant: string,
    { after, limit }: { after: string; limit: number },
  ): Promise<{ workspaces: Workspace[]; next: string | null }> {
    // Reads one more than requested, to see whether another page follows.
    const agents = await store.listAgentsByName(tenant, { after, limit: limit + 1 });
    const agentIds = new Set(agents.map(({ agentId }) => agentId));
    // The agent of a directory after a full page may have tasks, so the directory belongs to a later page.
    const last = agents.length > limit ? agents.at(-1)?.agentId : undefined;
    const directories = (await listDirectories(path.join(workspacesDir, tenant))).filter(
      ({ agentId }) => agentId > after && !agentIds.has(agentId) && (last === undefined || agentId < last),
    );
    const found = [...agents, ...directories].toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1));
    const workspaces = found.slice(0, limit).map(toWorkspace);
    return { workspaces, next: found.length > limit ? (workspaces.at(-1)?.agentId ?? null) : null };
  }

  return {
    listWorkspaces: (tenant: string, signal?: AbortSignal) => turns.take(tenant, () => listWorkspaces(tenant), signal),
    pageWorkspaces: (tenant: string, page: { after: string; limit: number }, signal?: AbortSignal) =>
      turns.take(tenant, () => pageWorkspaces(tenant, page), signal),
  };
}

const toWorkspace = ({ agentId, tasks, updatedAt }: Omit<Workspace, "id" | "kind">): Workspace => ({
  ...{ id: agentId, kind: "agent", agentId, tasks, updatedAt },
});

/** Lists the directories whose name is a valid agent id, including links to directories. */
async function listDirectories(parent: string): Promise<Pick<Workspace, "agentId" | "tasks" | "updatedAt">[]> {
  const found = [];
  let read = 0;
  for await (const { name } of await opendir(parent).catch(() => [])) {
    read += 1;
    if (read > MAX_DIRECTORIES) break;
    if (!agentIdPattern.test(name)) continue;
    const directory = await stat(path.join(parent, name)).catch(() => null);
    if (directory?.isDirectory() === true) found.push({ agentId: name, tasks: 0, updatedAt: Math.floor(directory.mtimeMs) });
  }
  return found;
}
