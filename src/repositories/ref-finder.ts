import { BridgeError } from "../errors.ts";
import { COMMIT } from "../workspaces/start-commit.ts";
import type { HostGit } from "./host-git.ts";
import type { RepositoryPaths } from "./paths.ts";
import { findCommit, hasReferenceTo, isReferenceName, MAX_LIST_BYTES } from "./references.ts";
import type { Repository } from "./repository.ts";
import type { TenantCommits } from "./tenant-commits.ts";

/** Creates the functions that find what a ref of a dispatch names. */
export function createRefFinder({ paths, git, commits }: { paths: RepositoryPaths; git: HostGit; commits: TenantCommits }) {
  /** Finds a ref in the mirror, and then among the kept branches of the tenant. */
  async function findRef({ name }: Repository, tenant: string, ref: string, signal?: AbortSignal): Promise<string | null> {
    const mirror = paths.mirror(name);
    if (ref === "HEAD") return await findCommit(git, mirror, ref, signal);
    if (!isReferenceName(ref)) return null;
    const candidates = /^refs\/(heads|tags)\//.test(ref) ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
    for (const candidate of candidates) {
      const found = await findCommit(git, mirror, candidate, signal);
      if (found !== null) return found;
    }
    return await commits.findBranch(name, tenant, ref.replace(/^refs\/heads\//, ""), signal);
  }

  /** Finds a commit by its id, which does not change with a fetch. */
  async function findKnown({ name }: Repository, tenant: string, ref: string, signal?: AbortSignal): Promise<string | null> {
    if (!COMMIT.test(ref)) return null;
    return (
      (await findCommit(git, paths.tenantRepository(name, tenant), ref, signal)) ?? (await findCommit(git, paths.mirror(name), ref, signal))
    );
  }

  /** Whether a branch, a tag or a stored task contains a commit. git keeps the commits of deleted branches and tasks for some time. */
  async function isContained({ name }: Repository, tenant: string, commit: string): Promise<boolean> {
    for (const repository of [paths.tenantRepository(name, tenant), paths.mirror(name)])
      if (await hasReferenceTo(git, repository, commit)) return true;
    return false;
  }

  return {
    findKnown,
    isContained,
    /** Returns the commit of a ref. Throws BridgeError: unknown_ref. */
    async requireRef(repository: Repository, tenant: string, ref: string, signal?: AbortSignal): Promise<string> {
      const found = (await findKnown(repository, tenant, ref, signal)) ?? (await findRef(repository, tenant, ref, signal));
      if (found !== null) return found;
      throw new BridgeError(
        "unknown_ref",
        `${repository.name} has no ref ${JSON.stringify(ref)}. Use a branch, a tag, or the full id of a commit that a branch or a tag contains.`,
      );
    },
    /** Returns the size of all files of a commit. */
    async measureCheckout(name: string, tenant: string, commit: string, signal: AbortSignal): Promise<number> {
      const own = paths.tenantRepository(name, tenant);
      const repository = (await findCommit(git, own, commit, signal)) === null ? paths.mirror(name) : own;
      const listed = await git.store(repository, ["ls-tree", "-r", "--format=%(objectsize)", commit], {
        signal,
        stdoutBytes: MAX_LIST_BYTES,
      });
      // A submodule has no size.
      return (listed.toString().match(/\d+/g) ?? []).reduce((sum, size) => sum + Number(size), 0);
    },
  };
}
