import { randomBytes } from "node:crypto";
import type { Store } from "../store.ts";
import { createAgentVerbs } from "./agent-verbs.ts";
import { createApprovalVerbs } from "./approval-verbs.ts";
import { createCallbackVerbs } from "./callback-verbs.ts";
import { createDeletionVerbs } from "./deletion-verbs.ts";
import { createEventVerbs } from "./event-verbs.ts";
import { createLongTextVerbs } from "./long-text-verbs.ts";
import { createResumeTokenVerbs } from "./resume-token-verbs.ts";
import { createRetentionVerbs } from "./retention-verbs.ts";
import { openSqlite } from "./sqlite-driver.ts";
import { createTaskVerbs } from "./task-verbs.ts";

/** Options of a store; `clock` is for tests of schedules. */
export interface StoreOptions {
  file: string;
  clock?: () => number;
  /** Called when the disk failed and Bridge's own writes wait for it, or when the file is damaged. */
  onFault?: (error: unknown) => void;
  /** Files up to this size are checked before they are used; for tests. */
  checkAtStartBytes?: number;
}

/** Opens the store in a SQLite file that no other process holds. */
export function openStore({ file, clock = Date.now, onFault = () => {}, ...options }: StoreOptions): Store {
  const driver = openSqlite(file, { onFault, ...options });
  const events = createEventVerbs(driver, clock);
  const approvals = createApprovalVerbs(driver, events, clock);
  const longTexts = createLongTextVerbs(driver);
  const deletions = createDeletionVerbs(driver);

  driver.run("INSERT INTO meta (name, value) VALUES ('epoch', ?) ON CONFLICT DO NOTHING", randomBytes(5).toString("hex"));
  const epoch = String(driver.get("SELECT value FROM meta WHERE name = 'epoch'")?.["value"]);

  return {
    epoch,
    ...events.verbs,
    ...approvals.verbs,
    ...createTaskVerbs(driver, { events, approvals, longTexts, clock }),
    ...longTexts.verbs,
    ...createAgentVerbs(driver),
    ...createCallbackVerbs(driver, { events, longTexts, clock }),
    ...createResumeTokenVerbs(driver),
    ...deletions.verbs,
    ...createRetentionVerbs(driver, { deletions, clock }),
    checkWritable: () =>
      driver.write(() => {
        driver.run(
          "INSERT INTO meta (name, value) VALUES ('checked', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          String(clock()),
        );
      }),
    checkPages: () => driver.checkPages(),
    close: () => driver.close(),
  };
}
