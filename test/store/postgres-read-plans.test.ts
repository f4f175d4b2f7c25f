import { describe, expect, onTestFinished, test } from "vitest";
import { createTicketReads } from "../../src/store/access/postgres.ts";
import { createApprovalReads } from "../../src/store/approvals/postgres.ts";
import { createAttentionOperations } from "../../src/store/attention/postgres.ts";
import { type Connection, connect, type Row, type Statement, type Value } from "../../src/store/engines/postgres/connection.ts";
import { type Reader, readerSettings } from "../../src/store/engines/postgres/reader-pool.ts";
import { createEventReads, readLastNumber, readLog } from "../../src/store/events/postgres.ts";
import { createDeletionReads } from "../../src/store/maintenance/postgres-deletion.ts";
import { createRunningReads } from "../../src/store/nodes/postgres.ts";
import { createCallbackReads } from "../../src/store/posts/postgres-callbacks.ts";
import { createWebhookOutbox } from "../../src/store/posts/postgres-webhooks.ts";
import { createLongTexts, type LongTextRows } from "../../src/store/tasks/long-texts.ts";
import { createAgentReads, createTaskListReads } from "../../src/store/tasks/postgres-lists.ts";
import { createResumeTokenReads, createTaskReads, createTaskStatusReads, readStopRequests } from "../../src/store/tasks/postgres-reads.ts";
import { createLongTextReads } from "../../src/store/tasks/postgres-texts.ts";
import { usageDimensions } from "../../src/store/usage/interface.ts";
import { createUsageReads } from "../../src/store/usage/postgres.ts";
import { createDatabase } from "../support/postgres/create-database.ts";

/** A node of a plan, as `EXPLAIN (FORMAT JSON)` prints it. */
interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
}

interface ExplainRow {
  "QUERY PLAN": [{ Plan: PlanNode }];
}

/** The plan of a statement. */
interface StatementPlan {
  text: string;
  nodes: readonly PlanNode[];
}

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const toLiteral = (value: Value): string => {
  if (value === null || typeof value === "number") return String(value);
  if (typeof value === "string") return `'${value}'`;
  return `'{${value.join(",")}}'`;
};

/** Returns a reader that runs each statement, and keeps the plan that readers of Bridge use for it. */
function createExplainer(connection: Connection) {
  const plans: StatementPlan[] = [];
  const prepared = new Set<string>();
  async function all({ name, text }: Statement, ...values: readonly Value[]): Promise<readonly Row[]> {
    if (!prepared.has(name)) {
      prepared.add(name);
      await connection.query(`PREPARE "${name}" AS ${text}`);
    }
    const call = `EXECUTE "${name}"${values.length === 0 ? "" : `(${values.map(toLiteral).join(", ")})`}`;
    const [row] = (await connection.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${call}`)).rows as unknown as [ExplainRow];
    plans.push({ text, nodes: nodesOf(row["QUERY PLAN"][0].Plan) });
    return (await connection.query(call)).rows;
  }
  const reader: Reader = { all, get: async (statement, ...values) => (await all(statement, ...values))[0] };
  return { plans, reader };
}

/** Stores so many tasks of one tenant, each with an event; the newer half has ended, with callbacks and approvals. */
const fill = (tasks: number): string => `
  INSERT INTO task (tenant, id, parent_seq, parent_id, agent_id, provider, state, metadata, request, fingerprint, created_at, started_at, finished_at, result)
    SELECT 'default', n::text, n / 10, (n / 10)::text, 'agent-' || n % 7, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END,
      CASE WHEN n % 1000 = 1 THEN 'queued' WHEN n % 1000 = 2 THEN 'running' WHEN n % 500 = 3 THEN 'failed' ELSE 'completed' END, '{}', '{}', '', n,
      CASE WHEN n % 1000 = 1 THEN NULL ELSE n END, CASE WHEN n % 1000 IN (1, 2) THEN NULL ELSE n END,
      CASE WHEN n % 1000 IN (1, 2) THEN NULL ELSE '{}' END
    FROM generate_series(1, ${tasks}) AS n;
  INSERT INTO event (number, task, type, at, data) SELECT seq, seq, 'execution.progress', seq, '{}' FROM task;
  INSERT INTO callback (task, tenant, url, origin, body, state, next_at, updated_at)
    SELECT seq, tenant, '', 'http://' || seq % 10, '', CASE WHEN seq % 3 = 0 THEN 'pending' ELSE 'dead' END, CASE WHEN seq % 3 = 0 THEN seq END, 0
    FROM task;
  INSERT INTO approval (id, task, tenant, tool_call_id, tool_name, input, state, created_at, expires_at, decided_at, decided_by)
    SELECT seq::text, seq, tenant, 'call', '', '{}', CASE WHEN seq % 1000 = 2 THEN 'pending' ELSE 'approved' END, 0, 0,
      CASE WHEN seq % 1000 = 2 THEN NULL ELSE 0 END, CASE WHEN seq % 1000 = 2 THEN NULL ELSE 'user' END FROM task;
  INSERT INTO webhook (name, cursor) VALUES ('w', ${Math.floor(tasks / 2)});
  INSERT INTO webhook_delivery (id, tenant, webhook, type, task, body, state, next_at, created_at, updated_at)
    SELECT seq::text, tenant, 'w' || seq % 10, 'execution.completed', seq, '{}', CASE seq % 100 WHEN 0 THEN 'pending' WHEN 1 THEN 'dead' ELSE 'delivered' END,
      CASE WHEN seq % 100 = 0 THEN seq END, 0, 0 FROM task;
  INSERT INTO task_label (task, tenant, name, value) SELECT seq, tenant, 'team', 'docs' FROM task;
  INSERT INTO resume_token (tenant, provider, agent_id, token, used_at) SELECT tenant, provider, agent_id, id, 0 FROM task;
  INSERT INTO usage_hour SELECT seq / 1000, CASE WHEN seq % 2 = 0 THEN tenant ELSE 'other' END, 'n1', provider, id, '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM task;
  INSERT INTO usage_hour_label SELECT seq / 1000, tenant, 'n1', 'name', id, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM task;
  INSERT INTO ticket (hash, principal, tenant, scopes, token_proof, expires_at) SELECT id, '', tenant, '[]', '', 0 FROM task;
  INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result, acknowledged_at)
    SELECT 'seen', n::text, 'agent', 'even', 'failed', '{}', '', n, n, n, '{}', n FROM generate_series(1, ${tasks}) AS n;`;

const sizes = [
  ["empty tables without statistics", 0, ""],
  ["small tables without statistics", 20, ""],
  ["small tables", 20, "ANALYZE"],
  ["tables that have grown since their statistics", 100_000, "none"],
  ["100,000 tasks", 100_000, "VACUUM ANALYZE"],
] as const;

/** What a plan must not do: read a table without an index, sort, or read more rows than the limit. */
function faultsOf(nodes: readonly PlanNode[], { sorts, rows = 1_000 }: { sorts: boolean; rows?: number }): string[] {
  const isScan = ({ "Node Type": type, "Relation Name": name }: PlanNode): boolean =>
    name !== undefined && type !== "ModifyTable" && !smallTables.has(name);
  const scans = nodes.filter(isScan);
  return [
    ...scans.filter((node) => !/^Index (Only )?Scan$/.test(node["Node Type"])).map((node) => node["Node Type"]),
    ...nodes.filter((node) => !sorts && node["Node Type"].endsWith("Sort")).map((node) => node["Node Type"]),
    ...scans.map(examinedBy).flatMap((examined) => (examined > rows ? [`${examined} rows`] : [])),
  ];
}

const examinedBy = (node: PlanNode): number => ((node["Rows Removed by Filter"] ?? 0) + node["Actual Rows"]) * node["Actual Loops"];

const PAGE = { before: null, limit: 50 };
const tenant = "default";
/** The tables of at most a few rows. */
const smallTables = new Set(["counter", "meta", "webhook"]);

describe.each(sizes)("in %s", (_, tasks, maintenance) => {
  async function open() {
    const { urlAt, port, query } = await createDatabase();
    if (maintenance === "none") await query("ANALYZE");
    await query(fill(tasks));
    if (maintenance === "ANALYZE" || maintenance === "VACUUM ANALYZE") await query(maintenance);
    const connection = await connect({ url: urlAt(port) });
    onTestFinished(() => connection.close());
    await connection.query(readerSettings);
    return createExplainer(connection);
  }

  test("every read follows indexes, and lists read no more than a few pages and sort nothing", async () => {
    const { plans, reader } = await open();
    const longTexts = createLongTexts(createLongTextReads(reader) as LongTextRows);
    const events = createEventReads(reader, () => tasks);
    const callbacks = createCallbackReads(reader, {
      ...{ readGapped: longTexts.readGapped, correctSchedule: async () => 50, node: "node-1", delivers: true },
      writer: { write: async () => new Set() as never },
    });
    const approvals = createApprovalReads(reader);
    const lists = createTaskListReads(reader, createDeletionReads(reader));
    const read = createTaskReads(reader, { node: "n1", ...longTexts });
    const middle = Math.floor(tasks / 2);

    const check = (limits: { sorts: boolean; rows?: number }): void => {
      const faults = plans.splice(0).flatMap(({ text, nodes }) => faultsOf(nodes, limits).map((fault) => `${fault}: ${text}`));
      expect(faults).toEqual([]);
    };

    // Keyset lists.
    for (const filter of [
      {},
      { state: "completed" as const },
      { state: "failed" as const },
      { provider: "even" },
      { agentId: "agent-1" },
      { parentTaskId: "5" },
      { provider: "even", agentId: "agent-1" },
    ]) {
      await lists.listTasks({ tenant, ...filter }, { before: middle, limit: 50 });
      await lists.listTasks({ tenant: "absent", ...filter }, PAGE);
    }
    const searches = [
      { errorCode: "timeout" as const },
      { callback: "dead" as const },
      { labels: [{ name: "team", value: "docs" }] },
      { createdAfter: middle, createdBefore: middle + 10 },
      { root: null },
      { title: "needle" },
      { text: "needle in a title" },
      { text: "team=docs" },
      { title: "needle", agentId: "agent-1", state: "running" as const },
    ];
    for (const search of searches) await lists.searchTasks({ tenant, ...search }, { before: middle, limit: 50 });
    await createTaskStatusReads(reader).readTaskStatuses(Array.from({ length: 50 }, (_, index) => middle + index));
    check({ sorts: false, rows: 2_000 });
    await lists.searchTasks({ tenant, idPrefix: "1" }, PAGE);
    await lists.searchTasks({ tenant, idPrefix: "77" }, PAGE);
    await lists.searchTasks({ tenant, waitingOn: "approval" }, PAGE);
    await lists.searchTasks({ tenant, finishedAfter: middle }, PAGE);
    await lists.searchTasks({ tenant, finishedAfter: middle, state: "failed", root: null }, PAGE);
    for (const text of ["1", "77", "needle"]) await lists.searchTasks({ tenant, text }, PAGE);
    await lists.searchTasks({ tenant, root: String(tasks) }, PAGE);
    for (const order of ["newest", "oldest"] as const) {
      await approvals.listApprovals(tenant, { taskId: "1" }, { order, after: null, limit: PAGE.limit });
      await approvals.listApprovals(tenant, { taskId: "1", state: "approved" }, { order, after: null, limit: PAGE.limit });
    }
    check({ sorts: true, rows: 2_000 });
    for (const order of ["newest", "oldest"] as const) {
      await approvals.listApprovals(tenant, {}, { order, after: null, limit: PAGE.limit });
      await approvals.listApprovals(tenant, { state: "approved" }, { order, after: null, limit: PAGE.limit });
    }
    await callbacks.listCallbacks(tenant, undefined, { before: middle, limit: 50 });
    await callbacks.listCallbacks(tenant, "dead", PAGE);
    await events.readEvents(middle, { tenant });
    await events.readEvents(middle, { tenant, taskId: "1", agentId: "agent-1", provider: "odd", types: ["execution.progress"] });
    await events.readTaskEvents(middle, 0, 50, "all");
    await events.readTaskEvents(middle, 0, 50, "execution");
    await events.readTaskEvents(middle, 0, 50, "toolCalls");
    await longTexts.readGapped(1, { json: "{}", gaps: [] });
    const webhooks = createWebhookOutbox(reader, { correctSchedule: async () => 50 });
    for (const state of [undefined, "delivered"] as const) await webhooks.listWebhookDeliveries({ tenant, webhook: "w1" }, state, PAGE);
    await webhooks.findWebhookDelivery({ tenant, webhook: "w1" }, "1");
    check({ sorts: false });
    await webhooks.readWebhookEvents({ tenant, webhook: "w" }, ["execution.progress"]);
    await webhooks.countWebhookDeliveries(tenant, ["w0", "w1"]);
    check({ sorts: true, rows: 2_000 });
    const keys = [0, 1, 2].map((webhook) => ({ tenant, webhook: `w${webhook}` }));
    await webhooks.listDueWebhooks(keys);
    await webhooks.nextWebhookInMs(keys);
    const claimed = await webhooks.claimDueDeliveries({ tenant, webhook: "w0" }, 8, new Set([1]));
    await webhooks.releaseDeliveries(claimed);
    check({ sorts: false, rows: 20 });

    const attention = createAttentionOperations(reader);
    for (const isAcknowledged of [false, true])
      await attention.readAttention(tenant, { isAcknowledged, limit: 50, failedSince: middle, webhooks: ["w0", "w1"] });
    await attention.isFault({ tenant, kind: "callback", id: "1" });
    // All failures were acknowledged.
    for (const isAcknowledged of [false, true])
      await attention.readAttention("seen", { isAcknowledged, limit: 50, failedSince: 0, webhooks: [] });
    await attention.isFault({ tenant: "seen", kind: "failure", since: 0 }, { isNew: true });
    check({ sorts: true, rows: 2_000 });

    // Lists that sort a few rows.
    const ranges = [
      { after: middle, through: middle + 10 },
      { after: middle + 20, through: Number.MAX_SAFE_INTEGER },
    ];
    await readLog(reader, ranges, true);
    await callbacks.listDueCallbackQueues();
    await callbacks.listDueCallbacks({ tenant, receiver: "http://3" }, 10, new Set([3]));
    await callbacks.nextCallbackInMs();
    await callbacks.oldestCallbackMs();
    for (const state of ["queued", "running"] as const) await lists.listTasks({ tenant, state, provider: "odd" }, PAGE);
    // No task matches both conditions.
    await lists.listTasks({ tenant, state: "failed", parentTaskId: "3" }, PAGE);
    await lists.listTasks({ tenant, provider: "even", parentTaskId: "absent" }, PAGE);
    await approvals.listPendingApprovals(tenant, "call");
    await read.listUnfinishedChildren(3);
    await read.listChildrenSpent(3);
    await read.listInterruptedTasks();
    await readStopRequests(reader, () => {});
    const running = createRunningReads(reader, { id: "n1", incarnation: "1" });
    await running.listOwnRunningTasks();
    await running.countRunning({ tenant, agentId: "agent-1" });
    await createDeletionReads(reader).findFamily(tenant, String(tasks));
    for (const by of usageDimensions) await createUsageReads(reader).sumUsage(tenant, [0, 20], by);
    await createUsageReads(reader).sumUsageParts(tenant, [0, 20], { by: "agent", keys: ["agent-1"] });
    check({ sorts: true, rows: 2_000 });

    // Single rows.
    await read.findTask(tenant, "1");
    await read.findTaskProgress(tenant, "1");
    await read.resultBytes(tenant, "1");
    await read.findQueuedTask("odd");
    await callbacks.findCallback(1);
    await callbacks.findCallbackDetails(1);
    await approvals.findApproval(tenant, "1");
    await approvals.hasPendingApproval(1);
    await events.oldestEventNumber();
    await events.hasEventsAfter(1, 0);
    await events.isInToolCall(2);
    await readLastNumber(reader);
    await createDeletionReads(reader).isTaskKept(1);
    await createResumeTokenReads(reader).isResumeTokenKnown({ tenant, provider: "odd", agentId: "agent-1", token: "1" });
    await createTicketReads(reader).isTicketKnown("1");
    check({ sorts: false, rows: 20 });

    // The essential events among all that were stored since the last read.
    await readLog(reader, ranges, false);
    check({ sorts: true, rows: tasks });

    // Counts.
    await read.countQueuedTasks();
    await createAgentReads(reader).listAgents(tenant, 10);
    await createAgentReads(reader).listAgentsByName(tenant, { after: "", limit: 10 });
    check({ sorts: true, rows: 2 * tasks });
  });
});
