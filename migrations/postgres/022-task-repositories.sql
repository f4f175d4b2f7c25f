-- compatible-from: 1
-- The repository of a task that has a separate work tree. The row is stored before the task, so it names the task by its id.
CREATE TABLE task_repository (
  tenant      text     COLLATE "C" NOT NULL,
  task_id     text     COLLATE "C" NOT NULL,
  repository  text     COLLATE "C" NOT NULL,
  branch      text     COLLATE "C" NOT NULL,
  -- NULL until the ref of the dispatch is resolved.
  base_commit text     COLLATE "C",
  -- The commit of the branch that the task has left; NULL if it has left none.
  head_commit text     COLLATE "C",
  -- Whether the branch belongs to the task: 1 or 0. A branch belongs to one task.
  has_branch  integer  NOT NULL,
  -- What the task has changed, as JSON. NULL until it ends.
  outcome     text     COLLATE "C",
  created_at  bigint   NOT NULL,
  PRIMARY KEY (tenant, task_id)
);
CREATE UNIQUE INDEX task_repository_branch ON task_repository (tenant, repository, branch) WHERE has_branch = 1;
CREATE INDEX task_repository_open ON task_repository (created_at) WHERE outcome IS NULL;
