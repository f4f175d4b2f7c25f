-- compatible-from: 1
-- The labels of tasks, for filters. The request of a task contains them too. No foreign key: it would lock the row of the task once for each label,
-- and nodes of the previous release delete tasks without their labels.
CREATE TABLE task_label (
  task   bigint NOT NULL,
  tenant text   COLLATE "C" NOT NULL,
  name   text   COLLATE "C" NOT NULL,
  value  text   COLLATE "C" NOT NULL,
  PRIMARY KEY (task, name)
);
CREATE INDEX task_label_list ON task_label (tenant, name, value, task);
