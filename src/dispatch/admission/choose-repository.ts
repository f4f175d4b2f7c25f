import { BridgeError, type ErrorCode } from "../../errors.ts";
import type { Repositories } from "../../repositories/repository.ts";
import { toDefaultBranch } from "../../requests/branch-name.ts";
import type { AskedRepository } from "../../requests/dispatch-schema.ts";
import type { Store } from "../../store/store.ts";
import { UnconfirmedWriteError } from "../../store/writes.ts";
import type { TaskIdentity, TaskRepository, TaskRequest } from "../../task.ts";
import { readAgentFile } from "../../workspaces/prompt-files.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";

/** The parts that choose repositories. */
export interface RepositoryChoiceOptions {
  store: Pick<Store, "findTask" | "findBranchTask" | "insertTaskRepositoryIfFree" | "deleteTaskRepositoryIfUnused">;
  /** Null without repositories. */
  repositories: Pick<Repositories, "isConfigured" | "resolve"> | null;
  workspaces: Pick<Workspaces, "workspaceOf">;
  /** The id of this node. */
  ownNode: string;
}

/** A request whose repository is resolved. */
interface ResolvedRequest {
  request: TaskRequest;
  /** Whether the task continues the branch of the task whose resume token it has. */
  continuesBranch: boolean;
}

type Owner = Pick<TaskIdentity, "tenant" | "taskId">;

export type RepositoryChoice = ReturnType<typeof createRepositoryChoice>;

/** Creates the choice of the repository and the branch of a task. */
export function createRepositoryChoice({ store, repositories, workspaces, ownNode }: RepositoryChoiceOptions) {
  function readDefault(tenant: string, agentId: string, place: string | null): AskedRepository | undefined {
    const isHere = place === null || place === ownNode;
    return isHere && repositories?.isConfigured() === true ? readRepositoryOfAgent(workspaces.workspaceOf(tenant, agentId)) : undefined;
  }

  /**
   * Returns the head of the branch that a task continues, because it has the resume token of the task that has the branch; null if it
   * continues none. The branch may be on the node where its agent lives, so that its head is read from the store.
   */
  async function findContinued(tenant: string, { name, branch }: TaskRepository, token: string | undefined): Promise<string | null> {
    const taskId = token === undefined ? null : await store.findBranchTask({ tenant, repository: name, branch });
    const result = taskId === null ? null : (await store.findTask(tenant, taskId))?.result;
    return result?.resumeToken === token ? (result?.repository?.headCommit ?? null) : null;
  }

  return {
    /**
     * Returns the repository of a dispatch: the one that it names, else that of the agent's agent.json; undefined if there is none. It is
     * not resolved yet.
     */
    find(asked: AskedRepository | null, task: Owner & { agentId: string; place: string | null }): TaskRepository | undefined {
      const found = asked ?? readDefault(task.tenant, task.agentId, task.place);
      if (found === undefined) return undefined;
      const { name, ref = "", branch = toDefaultBranch(task.taskId), keep = "branch", push = false } = found;
      return { name, ref, branch, keep, push, baseCommit: null };
    },
    /**
     * Finds the base of the task, which can take some seconds. Throws BridgeError: unknown_repository, unknown_ref, push_refused,
     * invalid_state, overloaded.
     */
    async resolve(request: TaskRequest, { tenant, taskId }: Owner): Promise<ResolvedRequest> {
      const { repository: found, resumeToken } = request;
      if (found === undefined) return { request, continuesBranch: false };
      if (repositories === null) throw createUnknownError(found.name);
      const head = await findContinued(tenant, found, resumeToken);
      const continuesBranch = head !== null;
      const holder = continuesBranch ? null : await store.findBranchTask({ tenant, repository: found.name, branch: found.branch });
      if (holder !== null && holder !== taskId) throw createTakenError(found, holder);
      const asked = { ...found, ref: found.ref === "" ? undefined : found.ref };
      const { ref, baseCommit } = await repositories.resolve(tenant, asked, continuesBranch).catch((error: unknown) => {
        throw withPath(error);
      });
      const repository = { ...found, ref, baseCommit: head ?? baseCommit, ...(continuesBranch ? { continuesBranch } : {}) };
      return { request: { ...request, repository }, continuesBranch };
    },
    /** Reserves the branch of a task while `insert` stores the task. Throws BridgeError: invalid_state. */
    async reserve<T>({ request: { repository }, continuesBranch }: ResolvedRequest, owner: Owner, insert: () => Promise<T>): Promise<T> {
      if (repository === undefined) return insert();
      const { name, branch, baseCommit } = repository;
      const holder = await store.insertTaskRepositoryIfFree({
        ...{ tenant: owner.tenant, taskId: owner.taskId, repository: name, branch, baseCommit, continuesBranch },
      });
      if (holder !== null) throw createTakenError(repository, holder);
      try {
        return await insert();
      } catch (error) {
        // A write that was not confirmed may have stored the task. Otherwise the branch is free again after a minute.
        if (!(error instanceof UnconfirmedWriteError)) await store.deleteTaskRepositoryIfUnused(owner.tenant, owner.taskId).catch(() => {});
        throw error;
      }
    },
  };
}

function readRepositoryOfAgent(workspace: string): AskedRepository | undefined {
  try {
    return readAgentFile(workspace).repository;
  } catch {
    // The task reports a fault of agent.json when it reads the other settings in it.
    return undefined;
  }
}

const paths: Partial<Record<ErrorCode, string>> = {
  unknown_repository: "repository.name",
  unknown_ref: "repository.ref",
  push_refused: "repository.push",
  invalid_state: "repository.branch",
};

/** Adds the field that a rejection is about. */
function withPath(error: unknown): unknown {
  const path = error instanceof BridgeError && error.errors.length === 0 ? paths[error.code] : undefined;
  if (!(error instanceof BridgeError) || path === undefined) return error;
  return new BridgeError(error.code, error.message, { errors: [{ path, message: error.message }] });
}

const createUnknownError = (name: string): BridgeError =>
  new BridgeError("unknown_repository", `There is no repository ${JSON.stringify(name)}, because this Bridge has no repositories.`, {
    errors: [{ path: "repository.name", message: "is not a repository of this Bridge" }],
  });

const createTakenError = ({ name, branch }: TaskRepository, holder: string): BridgeError =>
  new BridgeError("invalid_state", `The branch ${branch} of the repository ${name} belongs to the task ${holder}.`, {
    errors: [
      { path: "repository.branch", message: `belongs to the task ${holder}; send another name, or its resumeToken to continue the branch` },
    ],
  });
