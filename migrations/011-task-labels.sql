-- The labels of tasks, for filters. The request of a task contains them too.
CREATE TABLE task_label (
  task   INTEGER NOT NULL REFERENCES task (seq),
  tenant TEXT    NOT NULL,
  name   TEXT    NOT NULL,
  value  TEXT    NOT NULL,
  PRIMARY KEY (task, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_label_list ON task_label (tenant, name, value, task);
