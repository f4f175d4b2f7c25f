-- compatible-from: 1
-- What an approval decides: `tool`, a tool call, or `budget`, a higher maximum of a task's own budget. With an approved budget, the maxima
-- grow by the raises; NULL for a maximum that the dispatch does not set. Not constrained, because further kinds will follow.
ALTER TABLE approval ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'tool';
ALTER TABLE approval ADD COLUMN raise_micros bigint;
ALTER TABLE approval ADD COLUMN raise_tokens bigint;
