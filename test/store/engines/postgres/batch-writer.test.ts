import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AnyKind } from "../../../../src/store/engines/postgres/batch-transaction.ts";
import { type BatchWriter, createBatchWriter } from "../../../../src/store/engines/postgres/batch-writer.ts";
import { connect } from "../../../../src/store/engines/postgres/connection.ts";
import { migrate } from "../../../../src/store/engines/postgres/migrate.ts";
import type { OperationKind } from "../../../../src/store/engines/postgres/operation-kind.ts";
import { advisoryLocks } from "../../../../src/store/engines/postgres/statements.ts";
import type { NewEvent, StoredEvent } from "../../../../src/store/events/interface.ts";
import { appendOperation } from "../../../../src/store/events/postgres.ts";
import type { NewTask } from "../../../../src/store/tasks/interface.ts";
import { acceptOperation } from "../../../../src/store/tasks/postgres-accept.ts";
import { readLateOutcome, UnconfirmedWriteError } from "../../../../src/store/writes.ts";
import type { Task } from "../../../../src/task.ts";
import { newTask } from "../../../conformance/store/fixtures.ts";
import { startCluster } from "../../../support/postgres/cluster.ts";
import { createDatabase, type TestDatabase } from "../../../support/postgres/create-database.ts";
import { insertNodes } from "../../../support/postgres/open-node.ts";
import { startProxy } from "../../../support/postgres/proxy.ts";

/** A writer of one node, and what it has reported. */
interface Node {
  writer: BatchWriter;
  published: (StoredEvent | null)[];
  faults: unknown[];
  settled: { committed: number; aborted: number };
}

interface NodeOptions {
  answerMs?: number;
  /** Kinds that run after those of Bridge. */
  kinds?: readonly AnyKind[];
  /** Milliseconds that a statement waits for a lock. */
  lockMs?: number;
}

function startNode(url: string, { answerMs, kinds = [], lockMs }: NodeOptions = {}): Node {
  const node: Omit<Node, "writer"> = { published: [], faults: [], settled: { committed: 0, aborted: 0 } };
  const writer = createBatchWriter({
    async connect() {
      const connection = await connect({ url, ...(answerMs !== undefined && { answerMs }) });
      if (lockMs !== undefined) await connection.query(`SET lock_timeout = ${lockMs}`);
      return connection;
    },
    kinds: [acceptOperation, appendOperation, ...kinds],
    node: { id: "n1", incarnation: "1" },
    onEvents: (events) => node.published.push(...(events ?? [null])),
    onFault: (error) => node.faults.push(error),
    onSettled: (status) => {
      node.settled[status] += 1;
    },
  });
  onTestFinished(() => writer.close());
  return { ...node, writer };
}

async function open(options: NodeOptions = {}) {
  const database = await createDatabase();
  await insertNodes(database, ["n1"]);
  return { database, node: startNode(database.urlAt(database.port), options) };
}

async function openBehindProxy(options: NodeOptions = {}) {
  const database = await createDatabase();
  await insertNodes(database, ["n1"]);
  const proxy = await startProxy(database.port);
  return { database, proxy, node: startNode(database.urlAt(proxy.port), options) };
}

const accept = (writer: BatchWriter, fields: Partial<NewTask> = {}, { starts = true, patient = false } = {}) =>
  writer.write(
    acceptOperation,
    { task: newTask({ taskId: randomBytes(6).toString("hex"), ...fields }), starts, node: "n1", budgets: [], limitsAt: () => [] },
    { patient },
  );

const toEvent = (mark: string): NewEvent => ({ type: "execution.progress", data: JSON.stringify({ mark }) });

const append = (writer: BatchWriter, task: Task, marks: readonly string[], { patient = true } = {}) =>
  writer.write(appendOperation, { task, events: marks.map(toEvent) }, { patient });

interface StoredMark {
  number: number;
  task: number;
  mark: string;
}

/** The events that `append` has stored, in the order of their numbers, after the numbers of all events were checked. */
async function readMarks(database: TestDatabase): Promise<StoredMark[]> {
  const events = await database.query<{ number: string; task: string; data: string }>(
    "SELECT number, task, data FROM event ORDER BY number",
  );
  expect(events.map(({ number }) => Number(number))).toEqual(events.map((_, index) => index + 1));
  return events
    .map(({ number, task, data }) => ({ number: Number(number), task: Number(task), mark: JSON.parse(data).mark as string }))
    .filter(({ mark }) => mark !== undefined);
}

const acceptedTask = async (node: Node, fields: Partial<NewTask> = {}): Promise<Task> =>
  (await accept(node.writer, fields, { patient: true })).task;

/** Counts the transactions that have stored events. */
async function countTransactions(database: TestDatabase): Promise<number> {
  const [row] = await database.query<{ count: string }>("SELECT count(DISTINCT xmin::text) FROM event");
  return Number(row?.count);
}

/** Ends the nodes, because a session reports its statistics when it ends, and returns how many deadlocks the database has had. */
async function countDeadlocks(database: TestDatabase, nodes: readonly Node[]): Promise<number> {
  await Promise.all(nodes.map(({ writer }) => writer.close()));
  const sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'bridge'";
  await expect.poll(() => database.query(sessions)).toEqual([]);
  const [row] = await database.query<{ deadlocks: string }>("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  return Number(row?.deadlocks);
}

describe("operations", () => {
  test("an accepted task that starts is running and has its first event; another one is queued without an event", async () => {
    const { database, node } = await open();
    const started = await accept(node.writer, { taskId: "one" });
    expect(started).toMatchObject({ inserted: true, task: { state: "running", taskId: "one", startedAt: started.task.createdAt } });
    const queued = await accept(node.writer, { taskId: "two" }, { starts: false });
    expect(queued).toMatchObject({ inserted: true, task: { state: "queued", startedAt: null } });
    expect(node.published).toMatchObject([{ number: 1, type: "execution.started", task: { taskId: "one" }, at: started.task.createdAt }]);
    expect(await database.query("SELECT id, state, node FROM task ORDER BY seq")).toEqual([
      { id: "one", state: "running", node: "n1" },
      { id: "two", state: "queued", node: "n1" },
    ]);
  });

  test("a task that is accepted again, in the same event-loop turn or later, is found unchanged", async () => {
    const { node } = await open();
    const request = { ...newTask().request, metadata: { key: ["välue"] } };
    const [first, second] = await Promise.all([
      accept(node.writer, { taskId: "one", request }),
      accept(node.writer, { taskId: "one", fingerprint: "other" }),
    ]);
    expect(first.inserted).toBe(true);
    expect(second).toEqual({ inserted: false, task: first.task });
    expect(await accept(node.writer, { taskId: "one" })).toEqual(second);
    expect((await accept(node.writer, { taskId: "one", tenant: "other" })).inserted).toBe(true);
  });

  test("a task whose resume token is in use is queued instead of started", async () => {
    const { node } = await open();
    const request = { ...newTask().request, resumeToken: "session" };
    const tasks = await Promise.all(["one", "two", "three"].map((taskId) => accept(node.writer, { taskId, request })));
    expect(tasks.map(({ task }) => task.state).sort()).toEqual(["queued", "queued", "running"]);
  });

  test("a task that is not running, was requeued, or does not exist gets no events", async () => {
    const { database, node } = await open();
    const [running, queued, requeued] = await Promise.all([
      acceptedTask(node),
      accept(node.writer, {}, { starts: false }).then(({ task }) => task),
      acceptedTask(node),
    ]);
    await database.query("UPDATE task SET restarts = 1 WHERE seq = $1", [requeued.seq]);
    const tasks = [running, queued, requeued, { ...running, seq: 999 }, running];
    expect(await Promise.all(tasks.map((task, index) => append(node.writer, task, [`${index}`])))).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
    expect((await readMarks(database)).map(({ mark }) => mark)).toEqual(["0", "4"]);
  });

  test("all writes of one event-loop turn share one transaction, and their events keep the order of the calls", async () => {
    const { database, node } = await open();
    const tasks = await Promise.all(Array.from({ length: 5 }, () => acceptedTask(node)));
    const before = await countTransactions(database);
    const order = [...tasks.toReversed(), ...tasks].map((task, index) => ({ task, mark: `${index}` }));
    await Promise.all(order.map(({ task, mark }) => append(node.writer, task, [mark, `${mark}+`])));
    expect((await countTransactions(database)) - before).toBe(1);
    expect((await readMarks(database)).map(({ task, mark }) => [task, mark])).toEqual(
      order.flatMap(({ task, mark }) => [
        [task.seq, mark],
        [task.seq, `${mark}+`],
      ]),
    );
  });

  test("numbers continue after the newest events were deleted", async () => {
    const { database, node } = await open();
    const task = await acceptedTask(node);
    await append(node.writer, task, ["a", "b"]);
    await database.query("UPDATE counter SET value = 3 WHERE name = 'event_floor'");
    await database.query("DELETE FROM event");
    await append(node.writer, task, ["c"]);
    expect(await database.query("SELECT number FROM event")).toEqual([{ number: "4" }]);
  });
});

/** Ends running tasks, and runs after appends. */
const endOperation: OperationKind<{ task: Task }, boolean> = {
  name: "end",
  keyOf: ({ task }) => task.seq,
  isRepeatable: false,
  async run(inputs, transaction) {
    const running = inputs.filter(({ task }) => transaction.lockedTask(task.seq)?.state === "running").map(({ task }) => task);
    const text = "UPDATE task SET state = 'failed', finished_at = $2, result = '{}' WHERE seq = ANY ($1::bigint[])";
    await transaction.query({ name: "end", text }, [running.map(({ seq }) => seq), transaction.now]);
    return inputs.map(({ task }) =>
      running.includes(task) ? { output: true, events: [{ task, type: "execution.failed", data: '{"mark":"end"}' }] } : { output: false },
    );
  },
};

describe("operations of several kinds on one task", () => {
  test("operations of several kinds on one task take effect in the order of their calls, and so do their events", async () => {
    const { database, node } = await open({ kinds: [endOperation] });
    const [task, other] = [await acceptedTask(node), await acceptedTask(node)];
    const end = () => node.writer.write(endOperation, { task }, { patient: true });
    const results = [append(node.writer, task, ["a"]), end(), append(node.writer, task, ["b"]), append(node.writer, other, ["c"]), end()];
    expect(await Promise.all(results)).toEqual([true, true, false, true, false]);
    expect((await readMarks(database)).map(({ mark }) => mark)).toEqual(["a", "end", "c"]);
  });

  test("operations of several kinds on one task use one transaction if their kinds run in the order of their calls", async () => {
    const { database, node } = await open({ kinds: [endOperation] });
    const tasks = [await acceptedTask(node), await acceptedTask(node)];
    const before = await countTransactions(database);
    await Promise.all(tasks.flatMap((task) => [append(node.writer, task, ["a"]), node.writer.write(endOperation, { task })]));
    expect((await countTransactions(database)) - before).toBe(1);
    expect((await readMarks(database)).map(({ mark }) => mark)).toEqual(["a", "end", "a", "end"]);
  });
});

describe("a task that another session has locked", () => {
  test("a task that another session has locked delays only its own writes, which keep their order", async () => {
    const { database, node } = await open({ lockMs: 50 });
    const [locked, free] = [await acceptedTask(node), await acceptedTask(node)];
    const session = await connect({ url: database.urlAt(database.port) });
    onTestFinished(() => session.close());
    await session.query("BEGIN");
    await session.query(`SELECT 1 FROM task WHERE seq = ${locked.seq} FOR UPDATE`);
    const impatient = expect(append(node.writer, locked, ["impatient"], { patient: false })).rejects.toMatchObject({ httpStatus: 503 });
    const patient = ["a", "b"].map((mark) => append(node.writer, locked, [mark]));
    expect(await append(node.writer, free, ["free"])).toBe(true);
    await impatient;
    await session.query("ROLLBACK");
    expect(await Promise.all(patient)).toEqual([true, true]);
    expect((await readMarks(database)).map(({ mark }) => mark)).toEqual(["free", "a", "b"]);
  });

  test("a task that another session has locked keeps its writes in order if it is unlocked between two of them", async () => {
    const succeeded: string[] = [];
    const blockedOperation = createBlockedOperation(succeeded);
    const { node } = await open({ kinds: [blockedOperation] });
    const write = (mark: string, failures: number) => node.writer.write(blockedOperation, { mark, failures }, { patient: true });
    await Promise.all([write("first", 2), write("second", 0)]);
    expect(succeeded).toEqual(["first", "second"]);
  });
});

/** Meets a lock of another session as often as its input demands, and reports the order in which its operations succeed. */
function createBlockedOperation(succeeded: string[]): OperationKind<{ mark: string; failures: number }, null> {
  return {
    name: "blocked",
    keyOf: () => "key",
    isRepeatable: true,
    async run(inputs, transaction) {
      const text = "DO $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '55P03'; END $$";
      for (const input of inputs) {
        if (input.failures === 0) continue;
        input.failures -= 1;
        await transaction.query({ name: "blocked", text }, []);
      }
      succeeded.push(...inputs.map(({ mark }) => mark));
      return inputs.map(() => ({ output: null }));
    },
  };
}

/** Hides an error of its statement, after which PostgreSQL cannot commit. */
const carelessOperation: OperationKind<null, string> = {
  name: "careless",
  keyOf: () => null,
  isRepeatable: true,
  async run(inputs, transaction) {
    await transaction.query({ name: "careless", text: "SELECT 1 / 0" }, []).catch(() => {});
    return inputs.map(() => ({ output: "done" }));
  },
};

describe("a failing operation", () => {
  test("a failing operation is rejected if PostgreSQL answers COMMIT with ROLLBACK", async () => {
    const { node } = await open({ kinds: [carelessOperation] });
    await expect(node.writer.write(carelessOperation, null)).rejects.toThrow("PostgreSQL answered COMMIT with ROLLBACK.");
  });

  test("a failing operation fails alone, and the others of its batch are stored", async () => {
    const { database, node } = await open();
    const results = await Promise.allSettled(["one", "two\u0000", "three"].map((taskId) => accept(node.writer, { taskId })));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { code: "22021" } });
    expect(await database.query("SELECT id FROM task ORDER BY seq")).toEqual([{ id: "one" }, { id: "three" }]);
    expect(node.published).toMatchObject([
      { number: 1, task: { taskId: "one" } },
      { number: 2, task: { taskId: "three" } },
    ]);
    expect(node.faults).toEqual([]);
  });

  test("a failing operation in the statement that inserts the events fails alone, too", async () => {
    const { database, node } = await open();
    const task = await acceptedTask(node);
    const write = (data: string) =>
      node.writer.write(appendOperation, { task, events: [{ type: "execution.progress", data }] }, { patient: true });
    const results = await Promise.allSettled(['{"mark":"a"}', "\u0000", '{"mark":"b"}'].map(write));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await readMarks(database)).map(({ mark }) => mark)).toEqual(["a", "b"]);
  });

  test("a failing operation that fails only at COMMIT is rejected, and the others are stored", async () => {
    const { database, node } = await open();
    await database.query(`CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.id = 'late' THEN RAISE check_violation; END IF; RETURN NULL; END $$`);
    await database.query(
      "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION reject()",
    );
    const results = await Promise.allSettled(["one", "late"].map((taskId) => accept(node.writer, { taskId })));
    expect(results).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { code: "23514" } }]);
    expect(await database.query("SELECT id FROM task")).toEqual([{ id: "one" }]);
  });
});

describe("several nodes", () => {
  test("number their events without gaps and in the order of their commits", async () => {
    const { database, node } = await open();
    const nodes = [node, startNode(database.urlAt(database.port)), startNode(database.urlAt(database.port))];
    const reader = await connect({ url: database.urlAt(database.port) });
    onTestFinished(() => reader.close());
    const rounds = 60;
    const lasts: number[] = [];
    let isWriting = true;
    const watch = async () => {
      // A number that becomes visible after a higher one would be missing in what a reader has already read.
      while (isWriting) {
        const { rows } = await reader.query("SELECT coalesce(max(number), 0) AS last, count(*) AS count FROM event");
        expect(rows[0]?.["count"]).toBe(rows[0]?.["last"]);
        lasts.push(Number(rows[0]?.["last"]));
      }
    };
    const watched = watch();
    await Promise.all(
      nodes.map(async (one, index) => {
        const task = await acceptedTask(one, { agentId: `agent-${index}` });
        for (let round = 0; round < rounds; round += 1) await append(one.writer, task, [`${index}-${round}`, `${index}-${round}+`]);
      }),
    ).finally(() => {
      isWriting = false;
    });
    await watched;
    const marks = await readMarks(database);
    expect(marks).toHaveLength(nodes.length * rounds * 2);
    expect(new Set(lasts).size).toBeGreaterThan(10);
    const numbers = nodes.map(({ published }) => published.map((event) => event?.number ?? 0));
    for (const own of numbers) expect(own).toEqual(own.toSorted((a, b) => a - b));
    expect(numbers.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: marks.length + nodes.length }, (_, index) => index + 1));
  });

  test("several nodes that append to the same tasks in a different order do not deadlock", async () => {
    const { database, node } = await open();
    const other = startNode(database.urlAt(database.port));
    const tasks = await Promise.all(Array.from({ length: 20 }, () => acceptedTask(node)));
    for (let round = 0; round < 20; round += 1)
      await Promise.all([
        ...tasks.map((task) => append(node.writer, task, [`a${round}`])),
        ...tasks.toReversed().map((task) => append(other.writer, task, [`b${round}`])),
      ]);
    expect(await readMarks(database)).toHaveLength(800);
    expect(await countDeadlocks(database, [node, other])).toBe(0);
    expect([...node.faults, ...other.faults]).toEqual([]);
  });

  test("several nodes that accept the same tasks in a different order insert each once, without a deadlock", async () => {
    const { node, database } = await open();
    const other = startNode(database.urlAt(database.port));
    for (let round = 0; round < 20; round += 1) {
      const ids = Array.from({ length: 100 }, (_, index) => `task-${round}-${index}`);
      const accepted = await Promise.all([
        ...ids.map((taskId) => accept(node.writer, { taskId })),
        ...ids.toReversed().map((taskId) => accept(other.writer, { taskId })),
      ]);
      expect(accepted.filter(({ inserted }) => inserted)).toHaveLength(ids.length);
    }
    expect(await readMarks(database)).toEqual([]);
    expect(await countDeadlocks(database, [node, other])).toBe(0);
  });
});

/** Appends one mark after the other to its own task, and reports which writes resolved and which were rejected. */
async function appendUntil(node: Node, prefix: string, isDone: () => boolean, { patient = true } = {}) {
  const task = await acceptedTask(node, { agentId: prefix });
  const resolved: string[] = [];
  const rejected: string[] = [];
  for (let round = 0; !isDone(); round += 1) {
    const mark = `${prefix}-${round}`;
    try {
      expect(await append(node.writer, task, [mark], { patient })).toBe(true);
      resolved.push(mark);
    } catch (error) {
      expect(error).toMatchObject({ code: "storage_unavailable" });
      rejected.push(mark);
      await nextTurn();
    }
  }
  return { task, resolved, rejected };
}

type Appended = Awaited<ReturnType<typeof appendUntil>>;

/** Each resolved write is stored once and in the order of its writer; a rejected one at most once; nothing else is stored. */
function expectStored(marks: readonly StoredMark[], writers: readonly Appended[]): void {
  const all = marks.map(({ mark }) => mark);
  expect(new Set(all).size).toBe(all.length);
  for (const { task, resolved, rejected } of writers) {
    const own = marks.filter((one) => one.task === task.seq).map(({ mark }) => mark);
    expect(own.filter((mark) => !rejected.includes(mark))).toEqual(resolved);
  }
}

describe("connections that are cut exactly at COMMIT", () => {
  const CUTS = 200;

  test("connections that are cut exactly at COMMIT lose and double nothing: the server is asked for the outcome", async () => {
    const { database, proxy, node } = await openBehindProxy();
    const other = startNode(database.urlAt(database.port));
    let commits = 0;
    proxy.cutCommitsWhile(() => {
      commits += 1;
      if (proxy.cutCommits >= CUTS || commits % 3 === 0) return null;
      return commits % 3 === 1 ? "reply" : "request";
    });
    const isDone = () => proxy.cutCommits >= CUTS;
    const writers = await Promise.all([
      ...["a", "b", "c", "d"].map((prefix) => appendUntil(node, prefix, isDone)),
      ...["e", "f"].map((prefix) => appendUntil(node, prefix, isDone, { patient: false })),
      appendUntil(other, "g", isDone),
    ]);
    expect(proxy.cutCommits).toBe(CUTS);
    expectStored(await readMarks(database), writers);
    expect(writers.flatMap(({ rejected }) => rejected)).toEqual([]);
    expect(node.settled.committed + node.settled.aborted).toBe(CUTS);
    expect(node.settled.committed).toBeGreaterThan(50);
    expect(node.settled.aborted).toBeGreaterThan(50);
  });

  test("connections that are cut exactly at COMMIT report events with unknown numbers as unknown", async () => {
    const { proxy, node } = await openBehindProxy();
    const task = await acceptedTask(node);
    const decisions = ["reply" as const, null];
    proxy.cutCommitsWhile(() => decisions.shift() ?? null);
    expect(await append(node.writer, task, ["a"])).toBe(true);
    expect(await append(node.writer, task, ["b"])).toBe(true);
    expect(node.published).toMatchObject([{ number: 1 }, null, { number: 3 }]);
  });

  test.each(["request", "reply"] as const)(
    "an impatient write whose outcome cannot be asked for reports it later (%s lost)",
    async (lost) => {
      const { proxy, node } = await openBehindProxy();
      proxy.cutCommitsWhile(() => {
        proxy.refuse();
        return lost;
      });
      const error = await accept(node.writer).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(UnconfirmedWriteError);
      proxy.pass();
      expect(await readLateOutcome(error)).toEqual(lost === "request" ? null : expect.objectContaining({ inserted: true }));
      expect((await accept(node.writer)).inserted).toBe(true);
    },
  );

  test("an impatient write whose outcome cannot be asked for is rejected; a patient one waits for the outcome", async () => {
    const { database, proxy, node } = await openBehindProxy();
    const task = await acceptedTask(node);
    proxy.cutCommitsWhile(() => {
      proxy.cut();
      return "request";
    });
    const impatient = append(node.writer, task, ["impatient"], { patient: false });
    const patient = append(node.writer, task, ["patient"]);
    await expect(impatient).rejects.toMatchObject({ code: "storage_unavailable", message: expect.stringContaining("Repeat the request") });
    proxy.pass();
    expect(await patient).toBe(true);
    expect((await readMarks(database)).map(({ mark }) => mark)).toEqual(["patient"]);
  });
});

test("a network that fails within a commit does not hold the lock on event numbers", async () => {
  const { database, proxy, node } = await openBehindProxy();
  const task = await acceptedTask(node);
  const selectWaits = "SELECT wait_event FROM pg_stat_activity WHERE application_name = 'bridge' AND datname = current_database()";
  const isQuiet = async () => (await database.query(selectWaits)).every((row) => Object.values(row)[0] === "ClientRead");
  // Other tests use other databases of the server meanwhile.
  const countLocks = () =>
    database.query(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${advisoryLocks.eventNumbers}
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
  let isCommitted = false;
  for (let messages = 1; !isCommitted; messages += 1) {
    const stalled = proxy.stallAfter(messages);
    const appended = append(node.writer, task, [String(messages)]);
    isCommitted = await Promise.race([stalled.then(() => false), appended]);
    await expect.poll(isQuiet).toBe(true);
    expect(await countLocks()).toEqual([]);
    proxy.pass();
    expect(await appended).toBe(true);
  }
});

describe("an unavailable database", () => {
  test("an unavailable database rejects impatient writes and stores patient ones in order when it is back", async () => {
    const { database, proxy, node } = await openBehindProxy();
    const task = await acceptedTask(node);
    proxy.cut();
    await expect(append(node.writer, task, ["impatient"], { patient: false })).rejects.toMatchObject({ code: "storage_unavailable" });
    const patient = ["a", "b", "c"].map((mark) => append(node.writer, task, [mark]));
    await expect(append(node.writer, task, ["impatient"], { patient: false })).rejects.toMatchObject({ httpStatus: 503 });
    proxy.pass();
    expect(await Promise.all(patient)).toEqual([true, true, true]);
    expect((await readMarks(database)).map(({ mark }) => mark)).toEqual(["a", "b", "c"]);
    expect(node.faults.length).toBeGreaterThan(0);
  });

  test("an unavailable database is detected when the network holds all packets", async () => {
    const { database, proxy, node } = await openBehindProxy({ answerMs: 200 });
    const task = await acceptedTask(node);
    proxy.stall();
    await expect(append(node.writer, task, ["impatient"], { patient: false })).rejects.toMatchObject({ code: "storage_unavailable" });
    const patient = append(node.writer, task, ["patient"]);
    proxy.cutOnce();
    proxy.pass();
    expect(await patient).toBe(true);
    expectStored(await readMarks(database), [{ task, resolved: ["patient"], rejected: ["impatient"] }]);
  });

  test("an unavailable database gets a new connection after the old one was cut between two writes", async () => {
    const { proxy, node } = await openBehindProxy();
    const task = await acceptedTask(node);
    const before = proxy.connections;
    proxy.cutOnce();
    await expect.poll(() => append(node.writer, task, ["a"], { patient: false }).catch(() => false)).toBe(true);
    expect(proxy.connections).toBeGreaterThan(before);
  });

  test("an unavailable database does not delay the stop of Bridge: writes that wait are rejected", async () => {
    const { proxy, node } = await openBehindProxy();
    const task = await acceptedTask(node);
    proxy.cut();
    const patient = append(node.writer, task, ["a"]);
    const rejected = expect(patient).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect.poll(() => node.faults.length).toBeGreaterThan(0);
    await node.writer.close();
    await rejected;
    await expect(append(node.writer, task, ["b"])).rejects.toThrow("Bridge is stopping.");
  });

  test("an unavailable database stores all writes that were made before the stop if it is there", async () => {
    const { database, node } = await open();
    const task = await acceptedTask(node);
    const writes = ["a", "b"].map((mark) => append(node.writer, task, [mark]));
    await node.writer.close();
    expect(await Promise.all(writes)).toEqual([true, true]);
    expect(await readMarks(database)).toHaveLength(2);
  });
});

describe("a server that crashes and restarts under load", () => {
  const CRASHES = 5;

  test("a server that crashes and restarts under load loses no acknowledged write and doubles none", async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.close());
    const database = await createDatabase({ isEmpty: true, port: cluster.port });
    await migrate(database.urlAt(cluster.port));
    await insertNodes(database, ["n1"]);
    const nodes = [startNode(database.urlAt(cluster.port)), startNode(database.urlAt(cluster.port))] as const;
    let isDone = false;
    const writers = ["a", "b", "c", "d"].map((prefix, index) =>
      appendUntil(nodes[index % 2 === 0 ? 0 : 1], prefix, () => isDone, { patient: index < 2 }),
    );
    for (let crash = 0; crash < CRASHES; crash += 1) {
      const before = nodes.map(({ published }) => published.length);
      await expect.poll(() => nodes.every(({ published }, index) => published.length > (before[index] ?? 0) + 20)).toBe(true);
      await cluster.crashAndRestart();
    }
    isDone = true;
    const appended = await Promise.all(writers);
    expectStored(await readMarks(database), appended);
    expect(appended.every(({ resolved }) => resolved.length > 0)).toBe(true);
    expect(nodes.every(({ faults }) => faults.length > 0)).toBe(true);
  });
});
