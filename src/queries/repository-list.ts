import type { Repositories, RepositorySummary } from "../repositories/repository.ts";
import type { KeptBranch } from "../store/repositories/interface.ts";
import type { Store } from "../store/store.ts";

/** A repository, and the branches that ended tasks have left. */
export interface ListedRepository extends RepositorySummary {
  branches: { name: string; taskId: string; headCommit: string }[];
}

export type RepositoryList = ReturnType<typeof createRepositoryList>;

/** Creates the list of the repositories of a tenant. */
export const createRepositoryList = ({
  store,
  repositories,
}: {
  store: Pick<Store, "listBranches">;
  repositories: Pick<Repositories, "list">;
}) => ({
  async list(tenant: string): Promise<ListedRepository[]> {
    const branches = Map.groupBy(await store.listBranches(tenant), ({ repository }) => repository);
    return (await repositories.list(tenant)).map((repository) => ({
      ...repository,
      branches: (branches.get(repository.name) ?? []).map(toBranch),
    }));
  },
});

const toBranch = ({ branch, taskId, headCommit }: KeptBranch) => ({ name: branch, taskId, headCommit });
