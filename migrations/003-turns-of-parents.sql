-- When a task's children were last started by an adapter: parents whose children wait for the same one take turns.
CREATE INDEX task_child_turns ON task (parent_seq, provider, started_at) WHERE parent_seq IS NOT NULL;
