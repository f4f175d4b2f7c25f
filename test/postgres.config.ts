import { availableParallelism } from "node:os";
import path from "node:path";
import { defineConfig } from "vitest/config";
import { harness, postgresTests } from "./harness/vitest-options.ts";

const options = harness({ testLimitMs: 60_000, filesInMemory: true });
const isOff = process.env["BRIDGE_TEST_POSTGRES"] === "off";

/**
 * The tests that need PostgreSQL, which `npm test` does without: those of its engine, and the suites whose tests write to the store and
 * read from it. They share one server. `test/support/postgres/sqlite-only-tests.ts` lists the single tests that only SQLite can pass.
 */
export default defineConfig({
  test: {
    ...options,
    env: { BRIDGE_TEST_DATABASE: "postgres" },
    isolate: false,
    maxWorkers: availableParallelism() + 1,
    setupFiles: [...[options.setupFiles ?? []].flat(), path.resolve(import.meta.dirname, "support/postgres/omit-sqlite-only-tests.ts")],
    globalSetup: [
      options.globalSetup,
      isOff ? [] : path.resolve(import.meta.dirname, "support/postgres/global-setup.ts"),
    ].flat() as string[],
    include: isOff
      ? []
      : [
          ...postgresTests,
          "test/support/postgres/**/*.test.ts",
          "test/cli/backup.test.ts",
          "test/{http,websocket,callbacks,webhooks,traces,approvals,events,dispatch,access,queries,crash}/**/*.test.ts",
        ],
    exclude: [
      "**/node_modules/**",
      // The server in front of the routes, the forms of requests and responses, and the frames of sockets: none of it depends on the
      // database.
      "test/http/{openapi,server,wire}/**",
      "test/http/{hostile-bodies,request-log,response-check}.test.ts",
      "test/websocket/{bridge-server,parse-envelope,unread-frames}.test.ts",
    ],
    passWithNoTests: isOff,
  },
});
