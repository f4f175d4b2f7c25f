import { createSessionOperations, createTicketReads, createTicketWrites } from "./access/postgres.ts";
import { createApprovalReads, createApprovalWrites } from "./approvals/postgres.ts";
import { createAttentionOperations } from "./attention/postgres.ts";
import { createBudgetOperations } from "./budgets/postgres.ts";
import { createBatchWriter } from "./engines/postgres/batch-writer.ts";
import { connect } from "./engines/postgres/connection.ts";
import { startPoll } from "./engines/postgres/poll.ts";
import { prepareDatabase } from "./engines/postgres/prepare-database.ts";
import { createReaderPool } from "./engines/postgres/reader-pool.ts";
import { readServerClock } from "./engines/postgres/statements.ts";
import type { StoredEvent } from "./events/interface.ts";
import { createEventReads, readLastNumber, readLog } from "./events/postgres.ts";
import { createLogEpoch } from "./events/postgres-epoch.ts";
import { createEventTail } from "./events/postgres-tail.ts";
import { createDeletionReads, createDeletionWrites } from "./maintenance/postgres-deletion.ts";
import { createRetentionWrites } from "./maintenance/postgres-retention.ts";
import { type ClusterStore, concernsNode, type Hint, type NodeIdentity, type RateStore } from "./nodes/interface.ts";
import { createPostgresCluster } from "./nodes/postgres.ts";
import { createHints, hintWrites } from "./nodes/postgres-hints.ts";
import { createRateCounts } from "./nodes/postgres-rates.ts";
import { writeKinds } from "./postgres-write-kinds.ts";
import { createCallbackReads, createCallbackWrites } from "./posts/postgres-callbacks.ts";
import { createCallbackSchedule } from "./posts/postgres-schedule.ts";
import { createWebhookOutbox } from "./posts/postgres-webhooks.ts";
import { createRepositoryOperations } from "./repositories/postgres.ts";
import type { Store } from "./store.ts";
import { createLongTexts } from "./tasks/long-texts.ts";
import { createAgentReads, createTaskListReads } from "./tasks/postgres-lists.ts";
import { createResumeTokenReads, createTaskReads, createTaskStatusReads, readStopRequests } from "./tasks/postgres-reads.ts";
import { createLongTextReads, createLongTextWrites } from "./tasks/postgres-texts.ts";
import { createTaskWrites } from "./tasks/postgres-writes.ts";
import { createTraceOperations } from "./traces/postgres.ts";
import { createUsageReads } from "./usage/postgres.ts";

/** A node under load reads what others have committed at this interval, because it would otherwise read after each of their commits. */
const LEAST_READ_MS = 10;

/** Options of a store on PostgreSQL. */
export interface PostgresStoreOptions {
  url: string;
  /** This node. It starts tasks only after it has joined the cluster. */
  node: NodeIdentity;
  /** Whether this node posts callbacks. */
  delivers?: boolean;
  /** Whether the store upgrades the schema of the database. Otherwise it refuses an older schema. */
  migrates?: boolean;
  /** Where hints are exchanged, if `url` leads to a pooler. */
  listenUrl?: string;
  /** Stands in for the clock of the server; for tests of schedules. */
  clock?: (() => number) | undefined;
  /** Called when the database is unavailable. */
  onFault?(error: unknown): void;
  /** Called with each hint of another node. */
  onHint?(hint: Hint): void;
  /** Called after each read of the log with the number of events that this node had not published. */
  onTailLag?(events: number): void;
}

/** A store on PostgreSQL, and the nodes that share it. */
export interface PostgresStore {
  store: Store;
  cluster: ClusterStore;
  rates: RateStore;
}

/** Opens the store of a node in a PostgreSQL database, whose schema it brings up to date first. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, node, delivers = true, migrates = true, listenUrl = url, clock, onFault = () => {}, onHint = () => {} } = options;
  await prepareDatabase(url, migrates);
  let onLostEvents = (_lastShared: number): void => {};
  const log = createLogEpoch((lastShared) => onLostEvents(lastShared));
  const reader = createReaderPool({ connect: () => log.connect({ url }), onFault });
  let publish: (events: readonly StoredEvent[]) => void = () => {};
  let needsAll = (): boolean => true;

  const tail = createEventTail({
    start: await readLastNumber(reader),
    read: (ranges, isWhole) => readLog(reader, ranges, isWhole),
    needsAll: () => needsAll(),
    publish: (events) => publish(events),
    onLag: options.onTailLag ?? (() => {}),
    onMissing: () => eventPoll.now(),
  });
  onLostEvents = tail.rewind;
  const hints = createHints({
    connect: (hooks) => connect({ url: listenUrl, ...hooks }),
    onHint(hint) {
      if (!concernsNode(hint, node.id)) return;
      if (hint === "events") eventPoll.now();
      else if (hint === "stops") stopPoll.now();
      onHint(hint);
    },
    onUp() {
      eventPoll.now();
      stopPoll.now();
    },
  });
  const startOwnPoll = (check: () => Promise<unknown>) =>
    startPoll({ check: () => check().catch(() => {}), hintsArrive: () => hints.isUp, leastMs: LEAST_READ_MS });
  // A busy log must not postpone the search for stop requests.
  const eventPoll = startOwnPoll(tail.catchUp);
  const stopPoll = startOwnPoll(() => passStopRequests());
  const writer = createBatchWriter({
    connect: () => log.connect({ url }),
    kinds: writeKinds,
    node,
    clock,
    onTime: (now, askedAt) => schedule.track(now, askedAt),
    onEvents(events) {
      tail.addOwn(events);
      if (events === null || events.length > 0) hints.send("events");
    },
    onFault,
  });

  const schedule = createCallbackSchedule(writer, async () => clock?.() ?? (await readServerClock(reader)));
  const longTexts = createLongTexts({ ...createLongTextReads(reader), ...createLongTextWrites(writer) });
  let onStop: Parameters<Store["onStopRequests"]>[0] = () => {};
  const onForeignCallback = (owner: string | null): void => hints.send(`callbacks:${owner ?? "any"}`);
  const { readGapped } = longTexts;
  const outbox = { node: node.id, delivers, onForeignCallback };
  const budgets = createBudgetOperations(reader, writer, () => hints.send("budgets"));
  const tasks = createTaskWrites(writer, {
    ...{ ...outbox, readGapped, budgets: budgets.current },
    onStop: (...stop) => onStop(...stop),
    onForeignTask: (provider) => hints.send(`queue:${provider}`),
  });
  const passStopRequests = () => readStopRequests(reader, (...stop) => onStop(...stop));

  const cluster = createPostgresCluster({ url, node, connect: () => log.connect({ url }), reader, onChange: () => hints.send("nodes") });
  const deletions = createDeletionReads(reader);
  const store: Store = {
    get epoch() {
      return log.current();
    },
    lastEventNumber: tail.lastEventNumber,
    catchUp: tail.catchUp,
    onEvents(listener, needsAllEvents = () => true) {
      publish = listener;
      needsAll = needsAllEvents;
    },
    ...tasks,
    ...createCallbackWrites(writer, outbox),
    ...hintWrites(tasks, hints.send),
    onStopRequests(listener) {
      onStop = listener;
    },
    ...createTaskReads(reader, { node: node.id, ...longTexts }),
    ...createTaskStatusReads(reader),
    ...createTaskListReads(reader, deletions),
    ...createAgentReads(reader),
    ...createEventReads(reader, tail.lastEventNumber),
    ...createCallbackReads(reader, { readGapped, correctSchedule: schedule.correct, writer, ...outbox }),
    ...createWebhookOutbox(reader, { correctSchedule: schedule.correct, onReleased: () => hints.send("deliveries"), clock }),
    ...createTraceOperations(reader, clock),
    ...createAttentionOperations(reader, clock),
    ...createRepositoryOperations(reader, writer, clock),
    ...createApprovalReads(reader),
    ...createApprovalWrites(writer),
    ...createResumeTokenReads(reader),
    ...deletions,
    ...createDeletionWrites(writer),
    ...createTicketWrites(writer, createTicketReads(reader)),
    ...createSessionOperations(reader, clock),
    ...createUsageReads(reader),
    ...budgets.operations,
    ...createRetentionWrites(writer),
    keepLongTexts: longTexts.keepLongTexts,
    // The commits of PostgreSQL do not block the event loop.
    postponeCommit: () => {},
    // The server checks its pages.
    checkPages: async () => {},
    async close() {
      eventPoll.close();
      stopPoll.close();
      await writer.close();
      await hints.close();
      cluster.close();
      reader.close();
    },
  };
  return { store, cluster, rates: createRateCounts(reader) };
}
