import { randomBytes } from "node:crypto";
import type { Store } from "../store.ts";
import { createAgentOperations } from "./agent-operations.ts";
import { createApprovalOperations } from "./approval-operations.ts";
import { createAttentionOperations } from "./attention-operations.ts";
import { createCallbackOperations } from "./callback-operations.ts";
import { createDeletionOperations } from "./deletion-operations.ts";
import { createEventOperations } from "./event-operations.ts";
import { createLongTextOperations } from "./long-text-operations.ts";
import { createResumeTokenOperations } from "./resume-token-operations.ts";
import { createRetentionOperations } from "./retention-operations.ts";
import { createSessionOperations } from "./session-operations.ts";
import { openSqlite } from "./sqlite-driver.ts";
import { createStopOperations } from "./stop-operations.ts";
import { createTaskListOperations } from "./task-list-operations.ts";
import { createTaskOperations } from "./task-operations.ts";
import { createTaskStatusOperations } from "./task-status-operations.ts";
import { createTicketOperations } from "./ticket-operations.ts";
import { createTraceOperations } from "./trace-operations.ts";
import { createUsageOperations } from "./usage-operations.ts";
import { createWebhookOperations } from "./webhook-operations.ts";

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
  const events = createEventOperations(driver, clock);
  const approvals = createApprovalOperations(driver, events, clock);
  const longTexts = createLongTextOperations(driver);
  const callbacks = createCallbackOperations(driver, { events, longTexts, clock });
  const agents = createAgentOperations(driver);
  const deletions = createDeletionOperations(driver, { agents });
  const tickets = createTicketOperations(driver, clock);
  const sessions = createSessionOperations(driver, clock);
  const webhooks = createWebhookOperations(driver, { clock, correctSchedule: callbacks.correctSchedule });
  const usage = createUsageOperations(driver);

  driver.run("INSERT INTO meta (name, value) VALUES ('epoch', ?) ON CONFLICT DO NOTHING", randomBytes(5).toString("hex"));
  const epoch = String(driver.get("SELECT value FROM meta WHERE name = 'epoch'")?.["value"]);

  return {
    epoch,
    ...events.operations,
    ...approvals.operations,
    ...createTaskOperations(driver, { events, approvals, callbacks, longTexts, usage, clock }),
    ...createTaskStatusOperations(driver, clock),
    ...createTaskListOperations(driver, deletions.operations),
    ...createStopOperations(driver),
    keepLongTexts: longTexts.keepLongTexts,
    ...agents.operations,
    ...callbacks.operations,
    ...webhooks.operations,
    ...createTraceOperations(driver, clock),
    ...createAttentionOperations(driver, clock),
    ...createResumeTokenOperations(driver),
    ...deletions.operations,
    ...tickets.operations,
    ...sessions.operations,
    ...usage.operations,
    ...createRetentionOperations(driver, { deletions, agents, tickets, sessions, webhooks, usage, clock }),
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
