import { opendir, stat } from "node:fs/promises";
import path from "node:path";
import { createTurns } from "@hak2i/async-kit";
import { agentIdPattern } from "../requests/dispatch-schema.ts";
import type { Store } from "../store/store.ts";

/** The most workspaces that one list shows. */
export const MAX_WORKSPACES = 1000;

/** Entries of a tenant's directory that are looked at: what is beyond is found by its tasks only. */
const MAX_DIRECTORIES = 10_000;

/** The place where an agent's tasks run, as clients see it. */
export interface Workspace {
  /** Unique among the tenant's workspaces of its kind. */
  id: string;
  kind: "agent";
  agentId: string;
  /** How many tasks of the agent are kept. */
  tasks: number;
  /** When its newest task last began or ended, in ms since the epoch; without tasks, when its directory last changed. */
  updatedAt: number;
}

export interface WorkspaceList {
  /** The tenant's workspaces, newest first: agents that have tasks, and agents whose directory an operator has made. At most `MAX_WORKSPACES`. */
  listWorkspaces(tenant: string): Promise<Workspace[]>;
  /** One page of all of them, in the order of `agentId`; `next` is where the following page goes on, null at the end. */
  pageWorkspaces(tenant: string, page: { after: string; limit: number }): Promise<{ workspaces: Workspace[]; next: string | null }>;
}

/** Lists what is known of workspaces by their tasks and by their directories. */
export function createWorkspaceList({
  store,
  workspacesDir,
}: {
  store: Pick<Store, "listAgents" | "listAgentsByName">;
  workspacesDir: string;
}): WorkspaceList {
  // Counting hundreds of thousands of tasks takes a moment in which Bridge does nothing else: others have theirs in between.
  const turns = createTurns();

  async function listWorkspaces(tenant: string): Promise<Workspace[]> {
    const agents = await store.listAgents(tenant, MAX_WORKSPACES);
    // A full list may not be all agents: a directory that is not in it may have tasks all the same.
    const directories = agents.length === MAX_WORKSPACES ? [] : await listDirectories(path.join(workspacesDir, tenant));
    const busy = new Set(agents.map(({ agentId }) => agentId));
    return [...agents, ...directories.filter(({ agentId }) => !busy.has(agentId))]
      .toSorted((one, other) => other.updatedAt - one.updatedAt)
      .slice(0, MAX_WORKSPACES)
      .map(toWorkspace);
  }

  async function pageWorkspaces(tenant: string, { after, limit }: { after: string; limit: number }) {
    // One more than asked for shows whether this is the end.
    const agents = await store.listAgentsByName(tenant, { after, limit: limit + 1 });
    const busy = new Set(agents.map(({ agentId }) => agentId));
    // A directory that comes after a full page may have tasks that are not in it.
    const last = agents.length > limit ? agents.at(-1)?.agentId : undefined;
    const directories = (await listDirectories(path.join(workspacesDir, tenant))).filter(
      ({ agentId }) => agentId > after && !busy.has(agentId) && (last === undefined || agentId < last),
    );
    const found = [...agents, ...directories].toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1));
    const workspaces = found.slice(0, limit).map(toWorkspace);
    return { workspaces, next: found.length > limit ? (workspaces.at(-1)?.agentId ?? null) : null };
  }

  return {
    listWorkspaces: (tenant) => turns.take(tenant, () => listWorkspaces(tenant)),
    pageWorkspaces: (tenant, page) => turns.take(tenant, () => pageWorkspaces(tenant, page)),
  };
}

const toWorkspace = (agent: Omit<Workspace, "id" | "kind">): Workspace => ({ id: agent.agentId, kind: "agent", ...agent });

/** Directories that an agent can have for its workspace; a link to one is one. */
async function listDirectories(parent: string): Promise<Pick<Workspace, "agentId" | "tasks" | "updatedAt">[]> {
  const found = [];
  let looked = 0;
  for await (const { name } of await opendir(parent).catch(() => [])) {
    looked += 1;
    if (looked > MAX_DIRECTORIES) break;
    if (!agentIdPattern.test(name)) continue;
    const directory = await stat(path.join(parent, name)).catch(() => null);
    if (directory?.isDirectory() === true) found.push({ agentId: name, tasks: 0, updatedAt: Math.floor(directory.mtimeMs) });
  }
  return found;
}
