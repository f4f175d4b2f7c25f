-- The repository of a task that has a separate work tree. The row is stored before the task, so it names the task by its id.
CREATE TABLE task_repository (
  tenant      TEXT    NOT NULL,
  task_id     TEXT    NOT NULL,
  repository  TEXT    NOT NULL,
  branch      TEXT    NOT NULL,
  -- NULL until the ref of the dispatch is resolved.
  base_commit TEXT,
  -- The commit of the branch that the task has left; NULL if it has left none.
  head_commit TEXT,
  -- Whether the branch belongs to the task: 1 or 0. A branch belongs to one task.
  has_branch  INTEGER NOT NULL,
  -- What the task has changed, as JSON. NULL until it ends.
  outcome     TEXT,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (tenant, task_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX task_repository_branch ON task_repository (tenant, repository, branch) WHERE has_branch = 1;
CREATE INDEX task_repository_open ON task_repository (created_at) WHERE outcome IS NULL;
