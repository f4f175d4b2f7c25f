-- compatible-from: 1
-- The W3C `tracestate` of the dispatch, which belongs to its `traceparent`. Nodes of the previous release neither store it nor pass it on.
ALTER TABLE task ADD COLUMN tracestate text COLLATE "C";
