-- The result of a task is stored once. A callback body that contains the fields of `task.result` is stored without them: `body_gaps` is
-- `{"result": at}` then, and `at` counts UTF-16 units of the stored body. Bodies from before this migration are complete or have other gaps.

-- A list of callbacks without a state merges the lists of all states.
DROP INDEX callback_list;
