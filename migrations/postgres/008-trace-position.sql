-- compatible-from: 1
-- How far traces are exported: the collector has every span of the events up to `cursor`. At most one row. The process `holder` exports until
-- `held_until`, and then another one may take over.
CREATE TABLE trace_position (
  id         integer PRIMARY KEY CHECK (id = 1),
  cursor     bigint  NOT NULL,
  holder     text    COLLATE "C" NOT NULL,
  held_until bigint  NOT NULL
) WITH (fillfactor = 50);
