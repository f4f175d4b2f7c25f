import { randomBytes } from "node:crypto";
import { createSessionOperations, createTicketOperations } from "./access/sqlite.ts";
import { createApprovalOperations } from "./approvals/sqlite.ts";
import { createAttentionOperations } from "./attention/sqlite.ts";
import { createBudgetOperations } from "./budgets/sqlite.ts";
import { openDriver } from "./engines/sqlite/driver.ts";
import { createEventOperations } from "./events/sqlite.ts";
import { createDeletionOperations } from "./maintenance/sqlite-deletion.ts";
import { createRetentionOperations } from "./maintenance/sqlite-retention.ts";
import { createCallbackOperations } from "./posts/sqlite-callbacks.ts";
import { createWebhookOperations } from "./posts/sqlite-webhooks.ts";
import { createRepositoryOperations } from "./repositories/sqlite.ts";
import type { Store } from "./store.ts";
import { createAgentOperations, createTaskListOperations } from "./tasks/sqlite-lists.ts";
import { createTaskReads } from "./tasks/sqlite-reads.ts";
import { createLongTextOperations } from "./tasks/sqlite-texts.ts";
import { createStopOperations, createTaskWrites } from "./tasks/sqlite-writes.ts";
import { createTraceOperations } from "./traces/sqlite.ts";
import { createUsageOperations } from "./usage/sqlite.ts";

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
  const driver = openDriver(file, { onFault, ...options });
  const events = createEventOperations(driver, clock);
  const approvals = createApprovalOperations(driver, events, clock);
  const longTexts = createLongTextOperations(driver);
  const callbacks = createCallbackOperations(driver, { events, longTexts, clock });
  const agents = createAgentOperations(driver);
  const repositories = createRepositoryOperations(driver, clock);
  const deletions = createDeletionOperations(driver, { agents, repositories });
  const tickets = createTicketOperations(driver, clock);
  const sessions = createSessionOperations(driver, clock);
  const webhooks = createWebhookOperations(driver, { clock, correctSchedule: callbacks.correctSchedule });
  const usage = createUsageOperations(driver);
  const budgets = createBudgetOperations(driver, clock);

  driver.run("INSERT INTO meta (name, value) VALUES ('epoch', ?) ON CONFLICT DO NOTHING", randomBytes(5).toString("hex"));
  const epoch = String(driver.get("SELECT value FROM meta WHERE name = 'epoch'")?.["value"]);

  return {
    epoch,
    ...events.operations,
    ...approvals.operations,
    ...createTaskReads(driver, longTexts, clock),
    ...createTaskWrites(driver, { events, approvals, callbacks, usage, budgets, clock }),
    ...createTaskListOperations(driver, deletions.operations),
    ...createStopOperations(driver),
    keepLongTexts: longTexts.keepLongTexts,
    ...agents.operations,
    ...callbacks.operations,
    ...webhooks.operations,
    ...createTraceOperations(driver, clock),
    ...createAttentionOperations(driver, clock),
    ...repositories.operations,
    ...deletions.operations,
    ...tickets.operations,
    ...sessions.operations,
    ...usage.operations,
    ...budgets.operations,
    ...createRetentionOperations(driver, { deletions, agents, tickets, sessions, webhooks, usage, budgets, repositories, clock }),
    checkWritable: () =>
      driver.write(() => {
        driver.run(
          "INSERT INTO meta (name, value) VALUES ('checked', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          String(clock()),
        );
      }),
    postponeCommit: driver.postponeCommit,
    checkPages: () => driver.checkPages(),
    close: () => driver.close(),
  };
}
