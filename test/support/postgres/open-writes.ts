import { Client } from "pg";
import { expect, onTestFinished } from "vitest";
import { createTicketWrites } from "../../../src/store/access/postgres.ts";
import { createApprovalWrites } from "../../../src/store/approvals/postgres.ts";
import type { BudgetLimit } from "../../../src/store/budgets/interface.ts";
import { createBatchWriter } from "../../../src/store/engines/postgres/batch-writer.ts";
import { connect } from "../../../src/store/engines/postgres/connection.ts";
import type { StoredEvent } from "../../../src/store/events/interface.ts";
import { createDeletionWrites } from "../../../src/store/maintenance/postgres-deletion.ts";
import { createRetentionWrites } from "../../../src/store/maintenance/postgres-retention.ts";
import { writeKinds } from "../../../src/store/postgres-write-kinds.ts";
import { createCallbackWrites } from "../../../src/store/posts/postgres-callbacks.ts";
import type { NewTask } from "../../../src/store/tasks/interface.ts";
import { createLongTextWrites } from "../../../src/store/tasks/postgres-texts.ts";
import { createTaskWrites } from "../../../src/store/tasks/postgres-writes.ts";
import { newTask } from "../../conformance/store/fixtures.ts";
import { createDatabase, type TestDatabase } from "./create-database.ts";
import { insertNodes } from "./open-node.ts";

/** The writes of one node, and what it has reported. */
export type WritingNode = ReturnType<typeof startWrites>;

/** Opens a database with the writes of two nodes. `limits`: their budgets. */
export async function openWrites({ limits = [] }: { limits?: readonly BudgetLimit[] } = {}) {
  const database = await createDatabase();
  await insertNodes(database, ["n1", "n2"]);
  const url = database.urlAt(database.port);
  return {
    database,
    store: startWrites(url, "n1", limits),
    other: startWrites(url, "n2", limits),
    hold: (text: string) => hold(database, text),
  };
}

function startWrites(url: string, node: string, limits: readonly BudgetLimit[]) {
  const published: StoredEvent[] = [];
  const faults: unknown[] = [];
  const stops: unknown[] = [];
  const foreign: string[] = [];
  const writer = createBatchWriter({
    connect: () => connect({ url }),
    kinds: writeKinds,
    node: { id: node, incarnation: "1" },
    onEvents: (events) => published.push(...(events ?? [])),
    onFault: (error) => faults.push(error),
  });
  onTestFinished(() => writer.close());
  const readGapped = () => {
    throw new Error("These tests read no long text.");
  };
  return {
    ...{ writer, published, faults, stops, foreign },
    ...createTaskWrites(writer, {
      ...{ node, delivers: true, readGapped },
      budgets: () => ({ limitsAt: () => limits, onReached() {}, onRoom() {} }),
      onStop: (_, stop) => stops.push(stop),
      onForeignTask: (provider) => foreign.push(provider),
    }),
    ...createCallbackWrites(writer, { node, delivers: true }),
    ...createApprovalWrites(writer),
    ...createDeletionWrites(writer),
    ...createRetentionWrites(writer),
    ...createTicketWrites(writer, { isTicketKnown: async () => true }),
    ...createLongTextWrites(writer),
  };
}

/** Inserts a task; started by this node unless `starts` is false. */
export async function accept(store: WritingNode, fields: Partial<NewTask> = {}, starts = true) {
  return (await store.insertTaskIfAbsent(newTask(fields), { starts })).task;
}

/** A transaction of another session that stays open until the test commits it. */
export async function hold(database: TestDatabase, text: string) {
  const client = new Client(database.urlAt(database.port));
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN");
  await client.query(text);
  return {
    commit: () => client.query("COMMIT"),
    /** Waits until another session waits for a lock of this transaction. */
    async blocks() {
      const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE $1::integer = ANY (pg_blocking_pids(pid))";
      await expect.poll(() => database.query(waiting, [rows[0].pid])).toHaveLength(1);
    },
  };
}

/** Types of the events of a task, in the order of their numbers, after the numbers of all events were checked. */
export async function typesOf(database: TestDatabase, task: { seq: number }): Promise<string[]> {
  const events = await database.query<{ number: string; task: string; type: string }>(
    "SELECT number, task, type FROM event ORDER BY number",
  );
  expect(events.map(({ number }) => Number(number))).toEqual(events.map((_, index) => index + 1));
  return events.filter((event) => Number(event.task) === task.seq).map(({ type }) => type);
}
