-- compatible-from: 1
-- The W3C `tracestate` of the dispatch, which belongs to its `traceparent`.
ALTER TABLE task ADD COLUMN tracestate text COLLATE "C";
