-- compatible-from: 1
-- What a queued task without a parent needs of budgets: rows of name, cost and tokens as JSON, sorted by name. `[]` also for tasks whose needs
-- are in `task_budget` only: those of nodes of the previous release, and those with very many budgets.
ALTER TABLE task ADD COLUMN budget_needs text COLLATE "C" NOT NULL DEFAULT '[]';
