import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { Pool } from "undici";
import { encodeCursor } from "../src/http/wire/pagination.ts";
import type { SliceResult } from "./driver.ts";
import { fillDatabase, filled } from "./fill-database.ts";
import { readCpuTimeMs } from "./process-use.ts";
import { type RunningServer, startDriver, startServer } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Compares a Bridge whose database has few tasks with one whose database has many, in turn in one run. */

const { values: options } = parseArgs({
  options: {
    /** Tasks of the large database. */
    tasks: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "15" },
    /** Only the operations whose name contains this text. */
    only: { type: "string", default: "" },
    "no-file": { type: "boolean", default: false },
  },
});
const GOAL = 1.3;
const FEW_TASKS = 1000;
const NOISY_LOAD = 2;
const NOISE = "\n\n**Other programs were running**: a time above the goal with a CPU time near 1 is noise.";
/** Operations of one kind on one server before the other server's turn. */
const TURN = 8;
const PAGE = 20;
/** Events before the end of the log at which a stream resumes. */
const RESUMED_EVENTS = 200;
const replayFilters: readonly Record<string, string>[] = [
  {},
  { agentId: filled.agentId },
  { provider: filled.provider },
  { types: "callback.delivered" },
];
const IN_FLIGHT = 32;
const LEAST_TASKS = 300;

/** A Bridge and the content of its database. */
interface Subject {
  server: RunningServer;
  /** Some of its tasks, at random. */
  taskIds: readonly string[];
  epoch: string;
  tasks: number;
  events: number;
  /** Returns the number of the last filled event that matches the filter. */
  findLastEvent(filter: Record<string, string>): number;
  call(method: "GET" | "POST", target: string, body?: object): Promise<string>;
}

/** Median time of one operation and CPU time of the server, in ms. */
interface Cost {
  ms: number;
  cpuMs: number;
}

interface Row {
  name: string;
  few: Cost[];
  many: Cost[];
}

const tasks = Number(options.tasks);
const loadBefore = loadavg()[0] ?? Number.NaN;
const driver = startDriver();
const subjects: Subject[] = [];
try {
  for (const count of [FEW_TASKS, tasks]) subjects.push(await startSubject(count));
  const [few, many] = subjects as [Subject, Subject];
  const rows = [...(await measureOperations(few, many)), ...(await measureLoad(few, many))];
  const text = render(rows);
  console.log(`\n${text}`);
  if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "growth.md"), text);
} finally {
  for (const { server } of subjects) await server.stop();
  await driver.stop();
}

async function startSubject(count: number): Promise<Subject> {
  let taskIds: string[] = [];
  let epoch = "";
  let events = 0;
  const last = new Map<string, number>();
  const startedAt = performance.now();
  const server = await startServer("bridge", {
    async prepare(directory) {
      const file = path.join(directory, "bridge.db");
      await fillDatabase(file, count);
      const database = new SqliteDatabase(file, { readonly: true });
      const column = (sql: string): unknown[] => database.prepare(sql).pluck().all();
      taskIds = column(`SELECT id FROM task WHERE seq % ${Math.ceil(count / 1000)} = 0`) as string[];
      epoch = String(column("SELECT value FROM meta WHERE name = 'epoch'")[0]);
      events = Number(column("SELECT value FROM counter WHERE name = 'event'")[0]);
      for (const filter of replayFilters) last.set(describe(filter), queryLastEvent(database, filter));
      database.close();
    },
  });
  console.log(`${count} tasks: started after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  const pool = new Pool(server.target.address);
  const authorization = `Bearer ${server.target.token}`;
  return {
    server,
    taskIds,
    epoch,
    tasks: count,
    events,
    findLastEvent: (filter) => last.get(describe(filter)) as number,
    async call(method, target, body) {
      const { statusCode, body: answer } = await pool.request({
        method,
        path: target,
        headers: { authorization, ...(body !== undefined && { "content-type": "application/json" }) },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await answer.text();
      if (statusCode >= 300) throw new Error(`${method} ${target} was answered ${statusCode} ${text}`);
      return text;
    },
  };
}

function queryLastEvent(database: Database, filter: Record<string, string>): number {
  const columns: Record<string, string> = { agentId: "t.agent_id", provider: "t.provider", types: "e.type" };
  const terms = Object.keys(filter).map((name) => `AND ${columns[name]} = ?`);
  const sql = `SELECT max(e.number) FROM event e CROSS JOIN task t ON t.seq = e.task WHERE e.number > ? ${terms.join(" ")}`;
  const events = Number(database.prepare("SELECT max(number) FROM event").pluck().get());
  return Number(
    database
      .prepare(sql)
      .pluck()
      .get(events - RESUMED_EVENTS, ...Object.values(filter)),
  );
}

// --- single operations ----------------------------------------------------------------------------------------------------

/** One measured operation. It may return a function with the rest of its work, which is not measured. */
type Operation = (subject: Subject) => Promise<void | (() => Promise<void>)>;

function read(targetFor: (subject: Subject) => string): Operation {
  return async (subject) => {
    await subject.call("GET", targetFor(subject));
  };
}

function createOperations(): Record<string, Operation> {
  const { agentId, provider, rareAgentId, rareProvider, parentTaskId } = filled;
  const taskFilters: Record<string, string>[] = [
    {},
    { state: "queued" },
    { state: "running" },
    { state: "completed" },
    { state: "failed" },
    { state: "cancelled" },
    { provider },
    { provider: rareProvider },
    { agentId },
    { agentId: rareAgentId },
    { agentId: "absent" },
    { parentTaskId },
    { state: "failed", provider },
    { state: "failed", agentId },
    { state: "failed", parentTaskId },
    { agentId, provider },
    { state: "failed", agentId, provider },
    { state: "running", agentId },
    // Filters that match many tasks each, and few or none together.
    { agentId, provider: rareProvider },
    { agentId: rareAgentId, provider },
    { state: "failed", agentId: rareAgentId },
    { state: "failed", provider: rareProvider },
    { state: "failed", agentId: "absent" },
    // Searches, which examine a limited number of tasks.
    { errorCode: "timeout" },
    { errorCode: "budget_exceeded" },
    { callback: "dead" },
    { q: "it 12" },
    { q: "absent" },
    { root: "*" },
    { root: parentTaskId },
    { idPrefix: "parent-" },
    { createdBefore: "2020-01-01T00:00:00Z" },
    { createdAfter: "2020-01-01T00:00:00Z", errorCode: "timeout", agentId: rareAgentId },
  ];
  const list = (resource: string, filter: Record<string, string>): [string, Operation] => {
    const query = new URLSearchParams({ ...filter, limit: String(PAGE) });
    return [`list ${resource} ${describe(filter)}`, read(() => `/api/v2/${resource}?${query}`)];
  };
  return {
    "accept, id from Bridge": accept(() => ({})),
    "accept, random id from the client": accept(() => ({ taskId: randomUUID() })),
    "get a task": read(({ taskIds }) => `/api/v2/tasks/${pick(taskIds)}`),
    "list the events of a task": read(({ taskIds }) => `/api/v2/tasks/${pick(taskIds)}/events`),
    "replay a task": (subject) => readStream(subject, `/api/v2/tasks/${pick(subject.taskIds)}/events`),
    ...Object.fromEntries(taskFilters.map((filter) => list("tasks", filter))),
    "list tasks, a page in the middle": read(({ tasks }) => `/api/v2/tasks?limit=${PAGE}&cursor=${encodeCursor(Math.round(tasks / 2))}`),
    ...Object.fromEntries([{}, { state: "pending" }, { state: "delivered" }, { state: "dead" }].map((filter) => list("callbacks", filter))),
    ...Object.fromEntries(
      [{}, { state: "pending" }, { state: "approved" }, { state: "rejected" }].map((filter) => list("approvals", filter)),
    ),
    "list workspaces (agents)": read(() => `/api/v2/workspaces?limit=${PAGE}`),
    ...Object.fromEntries(
      replayFilters.map((filter): [string, Operation] => [`replay the newest events ${describe(filter)}`, replayNewest(filter)]),
    ),
  };
}

function describe(filter: Record<string, string>): string {
  return Object.entries(filter).flat().join(" ") || "(all)";
}

function pick(ids: readonly string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] as string;
}

/** Measures the 202. The rest waits for the end of the task, so that it does not run during the next measurement. */
function accept(fields: () => object): Operation {
  return async ({ call }) => {
    const { taskId } = JSON.parse(await call("POST", "/api/v2/dispatch", { agentId: "bench", message: "Look into it.", ...fields() }));
    return async () => {
      while (JSON.parse(await call("GET", `/api/v2/tasks/${taskId}`)).state !== "completed");
    };
  };
}

/** Resumes shortly before the last filled event, and reads until the last one that matches the filter. */
function replayNewest(filter: Record<string, string>): Operation {
  return async (subject) => {
    const lastEventId = `${subject.epoch}-${subject.events - RESUMED_EVENTS}`;
    const last = `${subject.epoch}-${subject.findLastEvent(filter)}`;
    await readStream(subject, `/api/events?${new URLSearchParams({ ...filter, lastEventId })}`, `id: ${last}\n`);
  };
}

/** Reads an event stream until a text occurs, or to its end. */
async function readStream({ server }: Subject, target: string, until?: string): Promise<void> {
  const { address, token } = server.target;
  const request = get(address + target, { headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${target} was answered ${response.statusCode}`);
  let text = "";
  for await (const chunk of response.setEncoding("latin1")) {
    text += chunk;
    if (until !== undefined && text.includes(until)) break;
  }
  request.destroy();
}

async function measureOperations(few: Subject, many: Subject): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, operation] of Object.entries(createOperations())) {
    if (!name.includes(options.only)) continue;
    const row: Row = { name, few: [], many: [] };
    for (let round = -2; round < Number(options.rounds); round += 1) {
      const turn = round % 2 === 0 ? ([few, many] as const) : ([many, few] as const);
      const costs = [await measureTurn(turn[0], operation), await measureTurn(turn[1], operation)] as [Cost, Cost];
      if (turn[0] !== few) costs.reverse();
      // The first rounds warm up.
      if (round < 0) continue;
      row.few.push(costs[0]);
      row.many.push(costs[1]);
    }
    console.log(describeRow(row));
    rows.push(row);
  }
  return rows;
}

async function measureTurn(subject: Subject, operation: Operation): Promise<Cost> {
  const times: number[] = [];
  let cpuMs = 0;
  for (let count = 0; count < TURN; count += 1) {
    const cpuBefore = readCpu(subject);
    const startedAt = performance.now();
    const rest = await operation(subject);
    times.push(performance.now() - startedAt);
    cpuMs += readCpu(subject) - cpuBefore;
    await rest?.();
  }
  return { ms: median(times), cpuMs: cpuMs / TURN };
}

function readCpu({ server }: Subject): number {
  return server.target.pids.reduce((sum, pid) => sum + readCpuTimeMs(pid), 0);
}

// --- tasks from end to end --------------------------------------------------------------------------------------------------

async function measureLoad(few: Subject, many: Subject): Promise<Row[]> {
  const row: Row = { name: `a task from end to end, ${IN_FLIGHT} in flight`, few: [], many: [] };
  if (!row.name.includes(options.only)) return [];
  const run = async ({ server }: Subject): Promise<Cost> => {
    const slice = { inFlight: IN_FLIGHT, leastTasks: LEAST_TASKS, leastMs: 0 };
    const { endToEndP50Ms, cpuMsPerTask, faults } = await driver.request<SliceResult>({ target: server.target, slice });
    if (faults.length > 0) throw new Error(faults.join("; "));
    return { ms: endToEndP50Ms, cpuMs: cpuMsPerTask };
  };
  for (let round = -2; round < Number(options.rounds); round += 1) {
    const isReversed = round % 2 !== 0;
    const first = await run(isReversed ? many : few);
    const second = await run(isReversed ? few : many);
    if (round < 0) continue;
    row.few.push(isReversed ? second : first);
    row.many.push(isReversed ? first : second);
  }
  console.log(describeRow(row));
  return [row];
}

// --- report -----------------------------------------------------------------------------------------------------------------

function computeRatios({ few, many }: Row, kind: keyof Cost): number[] {
  return few.map((cost, round) => (many[round] as Cost)[kind] / cost[kind]);
}

function describeRow(row: Row): string {
  const middle = (costs: readonly Cost[]) => median(costs.map(({ ms }) => ms)).toFixed(2);
  const ratio = (kind: keyof Cost) => {
    const ratios = computeRatios(row, kind);
    return `${median(ratios).toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)} to ${quantile(ratios, 0.9).toFixed(2)})`;
  };
  const verdict = median(computeRatios(row, "ms")) <= GOAL ? "met" : "**missed**";
  return `| ${[row.name, `${middle(row.few)} ms`, `${middle(row.many)} ms`, ratio("ms"), ratio("cpuMs"), verdict].join(" | ")} |`;
}

function render(rows: readonly Row[]): string {
  return `# Growth of the database

\`npm run bench -- growth\`: one Bridge has ${FEW_TASKS} ended tasks in its database, the other ${tasks}; both run at the same time and are
measured in turn, ${options.rounds} rounds of ${TURN} operations each, one at a time. A list has pages of ${PAGE}. Time and CPU time are ratios of the
two in the same round: median (p10 to p90). The columns in ms are medians over all rounds, so their quotient can differ. Goal for the time: at most ${GOAL}. Load average before the run: ${loadBefore.toFixed(2)}.${loadBefore > NOISY_LOAD ? NOISE : ""}

| operation | ${FEW_TASKS} tasks | ${tasks} tasks | time | CPU time | goal |
|---|--:|--:|--:|--:|---|
${rows.map(describeRow).join("\n")}
`;
}
