-- When a task that was returned to the queue may start again, and when it was returned first. The row stays after the start, because a task
-- with a row has started before.
CREATE TABLE task_wait (
  task        INTEGER PRIMARY KEY REFERENCES task (seq),
  start_after INTEGER NOT NULL,
  since       INTEGER NOT NULL
) STRICT;
