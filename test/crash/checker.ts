import { isDeepStrictEqual } from "node:util";
import type { EventEnvelope, ExecutionResult, TaskErrorCode } from "#contract";
import { isFinal } from "../../src/task.ts";
import type { ReceivedCallback } from "./callback-receiver.ts";
import { eventNumber, type Follower } from "./follower.ts";
import type { JournalEntry } from "./installation.ts";
import type { DispatchedTask } from "./orchestrator.ts";
import type { Phase } from "./phase-counter.ts";
import type { StoredEventRow, StoredState, StoredTask } from "./stored-state.ts";

/** Everything that the test observed of Bridge from outside, and its stored state. */
export interface Evidence {
  stored: StoredState;
  dispatched: ReadonlyMap<string, DispatchedTask>;
  followers: readonly Pick<Follower, "tenant" | "events">[];
  callbacks: readonly ReceivedCallback[];
  /** Order of arrival of each `callback.delivered`, by task. */
  deliveredSeenAt: ReadonlyMap<string, number>;
  /** What the runtimes of each task have recorded. */
  journals: ReadonlyMap<string, readonly JournalEntry[]>;
  /** Results that the API returns. */
  results: ReadonlyMap<string, unknown>;
}

/** Checks the evidence against Bridge's guarantees. Returns one line for each violation. */
export function checkGuarantees(evidence: Evidence): string[] {
  return [
    ...checkLog(evidence.stored),
    ...evidence.followers.flatMap((follower) => checkFollowed(follower, evidence.stored)),
    ...checkTasks(evidence),
    ...checkCallbacks(evidence),
  ];
}

function checkLog({ integrity, events, lastNumber }: StoredState): string[] {
  const hole = events.findIndex((event, index) => event.number !== index + 1);
  return [
    ...integrity.map((line) => `database: ${line}`),
    ...(hole === -1 ? [] : [`log: after ${hole} comes ${events[hole]?.number}`]),
    ...(events.length === lastNumber ? [] : [`log: ${events.length} events, but the counter is ${lastNumber}`]),
  ];
}

/** Checks that the stream contained the tenant's whole log: each event once, in order, as stored. */
function checkFollowed({ tenant, events }: Pick<Follower, "tenant" | "events">, stored: StoredState): string[] {
  const log = stored.events.filter((event) => event.tenant === tenant);
  const numbers = events.map(eventNumber);
  const disorder = numbers.findIndex((number, index) => index > 0 && number <= (numbers[index - 1] as number));
  const difference = log.findIndex((event, index) => !isSame(event, events[index]));
  return [
    ...(disorder === -1 ? [] : [`durability: the stream of ${tenant} sent event ${numbers[disorder]} after ${numbers[disorder - 1]}`]),
    ...(difference === -1 ? [] : [`durability: the stream of ${tenant} and the log differ from event ${log[difference]?.number} on`]),
    ...(events.length === log.length
      ? []
      : [`durability: the stream of ${tenant} sent ${events.length} events, the log has ${log.length}`]),
  ];
}

const isSame = (stored: StoredEventRow, followed: EventEnvelope | undefined): boolean =>
  followed !== undefined &&
  eventNumber(followed) === stored.number &&
  followed.type === stored.type &&
  isDeepStrictEqual(followed.data, JSON.parse(stored.data));

function checkTasks({ stored, dispatched, journals, results }: Evidence): string[] {
  const byKey = new Map(stored.tasks.map((task) => [task.key, task]));
  const eventsByTask = Map.groupBy(stored.events, (event) => event.task);
  const lost = [...dispatched].filter(([key, task]) => task.accepted && !byKey.has(key));
  return [
    ...lost.map(([key]) => `durability: ${key} was accepted and is not stored`),
    ...stored.tasks.flatMap((task) => {
      const starts = countStarts(journals.get(task.key) ?? []);
      return task.parentId === null ? checkTask(task, dispatched.get(task.key), starts) : checkChild(task, starts);
    }),
    ...stored.tasks.flatMap((task) => checkTaskEvents(task, eventsByTask.get(task.seq) ?? [])),
    ...stored.tasks
      .filter(({ parentId }) => parentId === null)
      .filter((task) => !isDeepStrictEqual(results.get(task.key), task.result))
      .map((task) => `task: the API returns a result of ${task.key} that differs from the stored one`),
  ];
}

const countStarts = (journal: readonly JournalEntry[]): number => journal.filter(({ word }) => word === "start").length;

function checkTask({ key, state, restarts, result }: StoredTask, dispatch: DispatchedTask | undefined, starts: number): string[] {
  if (dispatch === undefined) return [`task: ${key} was never dispatched`];
  const retries = dispatch.body["onInterrupt"] === "retry";
  const kind = String(dispatch.body["message"]).split(" ", 1)[0];
  const code = result?.errorCode ?? null;
  const expected = [expectedCodes.get(kind ?? "") ?? null, ...(dispatch.cancelled ? ["cancelled"] : []), "bridge_restarted"];
  return [
    ...(isFinal(state) ? [] : [`task: ${key} is still ${state}`]),
    ...(expected.includes(code) ? [] : [`task: ${key} (${kind}) ended ${state} ${code}: ${result?.error}`]),
    ...(starts > (retries ? 2 : 1) ? [`task: ${key} was started ${starts} times`] : []),
    ...(state === "completed" && starts === 0 ? [`task: ${key} is completed but was never started`] : []),
    ...(restarts > 0 && !retries ? [`task: ${key} returned to the queue without onInterrupt: retry`] : []),
  ];
}

/** The error codes of the kinds of tasks that do not complete. */
const expectedCodes: ReadonlyMap<string, TaskErrorCode> = new Map([
  ["fail", "runtime_crashed"],
  ["greedy", "budget_exceeded"],
]);

/** A child ends by itself, or with its parent, and is never started again. */
function checkChild({ key, state, restarts, result }: StoredTask, starts: number): string[] {
  const code = result?.errorCode ?? null;
  return [
    ...(isFinal(state) ? [] : [`task: the child ${key} is still ${state}`]),
    ...([null, "cancelled", "bridge_restarted"].includes(code) ? [] : [`task: the child ${key} ended ${state} ${code}: ${result?.error}`]),
    ...(starts > 1 || restarts > 0 ? [`task: the child ${key} was started ${starts} times`] : []),
  ];
}

/** Checks that a task has one start event, one terminal event, and no events of the task after it. */
function checkTaskEvents({ key, parentId, state }: StoredTask, events: readonly StoredEventRow[]): string[] {
  const types = events.map((event) => event.type).filter((type) => !type.startsWith("callback."));
  const ends = types.filter((type) => type === "execution.completed" || type === "execution.failed");
  const end = state === "completed" ? "execution.completed" : "execution.failed";
  const outcomes = events.filter((event) => event.type.startsWith("callback."));
  return [
    ...(ends.length === 1 && types.at(-1) === end
      ? []
      : [`events: ${key} is ${state} and has ${ends.length} terminal events; the last event is ${types.at(-1)}`]),
    ...(types.filter((type) => type === "execution.started").length === 1 && types[0] === "execution.started"
      ? []
      : [`events: ${key} does not have exactly one start event as its first event`]),
    ...(outcomes.length === (parentId === null ? 1 : 0)
      ? []
      : [`events: ${key} has ${outcomes.length} events for the outcome of its callback`]),
  ];
}

function checkCallbacks({ stored, callbacks, deliveredSeenAt }: Evidence): string[] {
  const byTask = Map.groupBy(callbacks, (callback) => callback.key);
  const tasksOfId = Map.groupBy(callbacks, (callback) => callback.webhookId);
  const known = new Set(stored.tasks.map((task) => task.key));
  return [
    ...stored.tasks
      .filter(({ parentId }) => parentId === null)
      .flatMap((task) => checkCallback(task, byTask.get(task.key) ?? [], stored.callbacks.get(task.seq)?.state)),
    ...[...byTask.keys()]
      .filter((key) => !known.has(key))
      .map((key) => `durability: a callback was received for ${key}, which is not stored`),
    ...[...tasksOfId]
      .filter(([, posts]) => new Set(posts.map((post) => post.key)).size > 1)
      .map(([id]) => `callback: ${id} is the id of callbacks of several tasks`),
    ...callbacks
      .filter(({ key, order }) => order > (deliveredSeenAt.get(key) ?? Number.POSITIVE_INFINITY))
      .map(({ key }) => `callback: the callback of ${key} was posted again after its delivery`),
  ];
}

function checkCallback({ key, result }: StoredTask, posts: readonly ReceivedCallback[], state: string | undefined): string[] {
  const [first] = posts;
  if (first === undefined) return [`callback: the callback of ${key} was not received`];
  const { taskId, agentId, provider, metadata, finishedAt, ...delivered } = JSON.parse(first.body) as ExecutionResult &
    Record<string, unknown>;
  return [
    ...(posts.every((post) => post.body === first.body)
      ? []
      : [`durability: the attempts of the callback of ${key} have different bodies`]),
    ...(posts.every((post) => post.webhookId === first.webhookId)
      ? []
      : [`callback: the attempts of the callback of ${key} have different ids`]),
    ...(isDeepStrictEqual(delivered, result)
      ? []
      : [`durability: the callback of ${key} contains a result that differs from the stored one`]),
    ...(key.endsWith(`/${String(taskId)}`) && [agentId, provider, metadata, finishedAt].every((field) => field !== undefined)
      ? []
      : [`callback: the callback of ${key} lacks fields`]),
    ...(state === "delivered" ? [] : [`callback: the callback of ${key} is ${state}`]),
  ];
}

/** The planned moment of a kill: after a number of events of a phase in the killed process. */
export interface Moment {
  phase: Phase;
  /** False if the process was killed at the time limit, because it had too few of these events. */
  isReached: boolean;
}

/** The share of the kills of each phase that have to come at their moments. */
const LEAST_REACHED = 0.9;

/** The kills of a run. */
export interface Kills {
  kills: number;
  maxConcurrent: number;
  moments: readonly Moment[];
}

/** Checks that kills interrupted no more tasks than were running, and that they interrupted work: to kill an idle Bridge proves nothing. */
export function checkKills({ stored, callbacks }: Evidence, { kills, maxConcurrent, moments }: Kills): string[] {
  const interruptions = stored.tasks.filter((task) => task.restarts > 0 || task.result?.errorCode === "bridge_restarted").length;
  const phases = [...Map.groupBy(moments, ({ phase }) => phase)].map(([phase, planned]) => ({
    ...{ phase, planned: planned.length, reached: planned.filter(({ isReached }) => isReached).length },
  }));
  return [
    ...(interruptions <= kills * maxConcurrent ? [] : [`task: ${interruptions} interruptions by ${kills} kills`]),
    ...(stored.tasks.length >= 2 * kills ? [] : [`proof: only ${stored.tasks.length} tasks in ${kills} rounds`]),
    ...phases
      .filter(({ planned, reached }) => reached < LEAST_REACHED * planned)
      .map(({ phase, planned, reached }) => `proof: only ${reached} of ${planned} kills in ${phase} came after their planned events`),
    ...(callbacks.length > stored.tasks.length ? [] : [`proof: only ${callbacks.length} callbacks for ${stored.tasks.length} tasks`]),
  ];
}
