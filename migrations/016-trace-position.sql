-- How far traces are exported: the collector has every span of the events up to `cursor`. At most one row. `holder` exports until `held_until`.
CREATE TABLE trace_position (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  cursor     INTEGER NOT NULL,
  holder     TEXT    NOT NULL,
  held_until INTEGER NOT NULL
) STRICT;
