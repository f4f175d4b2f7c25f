-- A long text is stored once. The result and the callback body that contain it have a gap there: `[{at, text}]`, where `at` counts UTF-16
-- units of the stored JSON, and `text` is `{"events": [first, last]}` (contents of the task's own assistant.text events) or
-- `{"kept": id, "chunks": count}`. NULL: no gaps.
ALTER TABLE task ADD COLUMN result_gaps TEXT;
ALTER TABLE callback ADD COLUMN body_gaps TEXT;

-- Parts of long texts, each the inside of a JSON string. `text` 0 holds the data of events that were pruned before their task.
CREATE TABLE text_chunk (
  task   INTEGER NOT NULL REFERENCES task (seq),
  text   INTEGER NOT NULL,
  number INTEGER NOT NULL,
  json   TEXT    NOT NULL,
  PRIMARY KEY (task, text, number)
) STRICT;
