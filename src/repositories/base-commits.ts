import { rejectOnAbort } from "@hak2i/async-kit";
import type { Logger } from "pino";
import { BridgeError } from "../errors.ts";
import { findNearestName } from "../nearest-name.ts";
import type { DiskLimit } from "./disk-limit.ts";
import { GitFault, type HostGit, toClientError } from "./host-git.ts";
import type { Mirrors } from "./mirrors.ts";
import type { RepositoryPaths } from "./paths.ts";
import { createRefFinder } from "./ref-finder.ts";
import { findCommit } from "./references.ts";
import type { BaseRequest, Repository, ResolvedRef, TreeTask } from "./repository.ts";
import type { TenantCommits } from "./tenant-commits.ts";

/** Options of `createBaseCommits`. */
export interface BaseCommitsOptions {
  paths: RepositoryPaths;
  git: HostGit;
  disk: DiskLimit;
  mirrors: Mirrors;
  commits: TenantCommits;
  /** The repositories of a tenant. */
  listOf(tenant: string): readonly Repository[];
  /** How long a dispatch waits for a fetch. */
  fetchSeconds: number;
  logger: Logger;
}

const NO_REPOSITORIES =
  "No repositories are configured for your tenant. The operator lists them in the file that BRIDGE_REPOSITORIES_FILE names.";

/** Creates the functions that find the base commits of tasks: when a dispatch is accepted, and when its task starts. */
export function createBaseCommits({ paths, git, disk, mirrors, commits, listOf, fetchSeconds, logger }: BaseCommitsOptions) {
  const { findKnown, isContained, requireRef, measureCheckout } = createRefFinder({ paths, git, commits });

  function findOf(tenant: string, name: string): Repository {
    const known = listOf(tenant);
    const found = known.find((repository) => repository.name === name);
    if (found !== undefined) return found;
    if (known.length === 0) throw new BridgeError("unknown_repository", NO_REPOSITORIES);
    const names = known.map((repository) => repository.name);
    const nearest = findNearestName(name, names);
    const advice =
      nearest === null ? "GET /api/v2/repositories lists the repositories of your tenant." : `Did you mean ${JSON.stringify(nearest)}?`;
    throw new BridgeError("unknown_repository", `There is no repository ${JSON.stringify(name)}. ${advice}`);
  }

  async function rejectTakenBranch({ name }: Repository, tenant: string, branch: string): Promise<void> {
    const advice = "Choose another branch. To continue the branch of an earlier task, send the resumeToken of that task.";
    if ((await findCommit(git, paths.mirror(name), `refs/heads/${branch}`)) !== null)
      throw new BridgeError("invalid_state", `The branch ${branch} exists in the source of ${name}. ${advice}`);
    const conflict = await commits.findConflictingBranch(name, tenant, branch);
    if (conflict !== null)
      throw new BridgeError(
        "invalid_state",
        `git cannot store the branch ${branch} next to the branch ${conflict}. Choose another branch.`,
      );
  }

  async function resolve(tenant: string, asked: BaseRequest, continuesBranch: boolean): Promise<ResolvedRef> {
    try {
      return await findBase(tenant, asked, continuesBranch);
    } catch (error) {
      // There is no git on the host.
      const isKnown = (fault: unknown): fault is Error =>
        fault instanceof GitFault || (fault instanceof BridgeError && fault.code === "not_supported");
      if (!isKnown(error)) throw error;
      const message = `Bridge cannot read the repository ${asked.name}: ${error.message}`;
      throw new BridgeError("invalid_state", message, { errors: [{ path: "repository.name", message }], cause: error });
    }
  }

  async function findBase(tenant: string, asked: BaseRequest, continuesBranch: boolean): Promise<ResolvedRef> {
    const repository = findOf(tenant, asked.name);
    if (asked.push === true && !repository.push)
      throw new BridgeError("push_refused", `The operator does not allow pushes to ${asked.name}. Dispatch without push.`);
    const ref = asked.ref ?? repository.defaultRef;
    const kept = continuesBranch ? await commits.findBranch(asked.name, tenant, asked.branch) : null;
    if (kept !== null) return { ref, baseCommit: kept };
    const found = await findKnown(repository, tenant, ref);
    const known = found !== null && (await isContained(repository, tenant, found)) ? found : null;
    const isFetched = known !== null || (await fetchInTime(repository));
    if (!continuesBranch) await rejectTakenBranch(repository, tenant, asked.branch);
    if (!isFetched) return { ref, baseCommit: null };
    return { ref, baseCommit: known ?? (await requireRef(repository, tenant, ref)) };
  }

  /** Whether a fetch succeeds in time. The reason of a failure is logged: the task reports it if it fails for the same reason. */
  async function fetchInTime(repository: Repository): Promise<boolean> {
    const timeout = AbortSignal.timeout(fetchSeconds * 1000);
    try {
      await rejectOnAbort(mirrors.fetch(repository), timeout);
      return true;
    } catch (error) {
      if (timeout.aborted && error === timeout.reason) return false;
      if (!(error instanceof GitFault)) throw error;
      logger.warn({ repository: repository.name, fault: error.message }, "repository fetch failed");
      return false;
    }
  }

  async function prepareBase({ tenant, repository: { name, ref, baseCommit } }: TreeTask, signal: AbortSignal): Promise<string> {
    const repository = findOf(tenant, name);
    const wanted = baseCommit ?? ref;
    try {
      const known = await findKnown(repository, tenant, wanted, signal);
      if (known === null) await rejectOnAbort(mirrors.fetch(repository), signal);
      const base = known ?? (await requireRef(repository, tenant, wanted, signal));
      if (disk.isSet) await disk.reserve(await measureCheckout(name, tenant, base, signal), `A work tree of ${name}`);
      return base;
    } catch (error) {
      throw toClientError(error, `${name} cannot be fetched`);
    }
  }

  return { resolve, prepareBase };
}
