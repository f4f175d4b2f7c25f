/**
 * The tests that do not run on PostgreSQL although their directory does, by file and full title, with the reason. A test is in this list
 * only if it is about SQLite itself, or about a part that both engines share and that it can only observe with the timing of SQLite.
 */
export const sqliteOnlyTests: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "test/dispatch/run/run-task.test.ts": {
    "a task with files > a task with files that is canceled while they are written does not start its runtime":
      "The cancellation reads the task from the server, and meanwhile the files may be written.",
  },
  "test/http/routes/dispatch.test.ts": {
    "while Bridge drains, new tasks are rejected and repeated dispatches still return their task":
      "On PostgreSQL, a node that drains accepts tasks for the other nodes.",
  },
  "test/websocket/lifecycle.test.ts": {
    "while Bridge drains, open sockets reject new runs and support all other ops":
      "On PostgreSQL, a node that drains accepts tasks for the other nodes.",
  },
  "test/http/routes/nodes.test.ts": {
    "with SQLite, the list of nodes contains this Bridge, which cannot be drained or forgotten": "The test describes SQLite.",
    "adapters report their node, and tasks no node": "The test describes SQLite.",
  },
  "test/http/streams/events-shutdown.test.ts": {
    "a slow client that reads the rest within the grace period receives all events and a clean end":
      "PostgreSQL commits the events in several batches, and a client that has not read the first one is disconnected at the next one.",
  },
  "test/http/streams/events.test.ts": {
    "a stream whose client disconnected leaves no timer behind": "The store on PostgreSQL has separate timers.",
  },
};
