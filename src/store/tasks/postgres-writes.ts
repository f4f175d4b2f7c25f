import type { StopRequest, Task, TaskIdentity } from "../../task.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { EventStore } from "../events/interface.ts";
import { appendOperation } from "../events/postgres-append.ts";
import type { ReadGapped } from "../posts/callback-rows.ts";
import type { CallbackStore, DueCallback } from "../posts/interface.ts";
import { createUsageRollup } from "../usage/rollup.ts";
import type { Finish, TaskStore } from "./interface.ts";
import { acceptOperation } from "./postgres-accept.ts";
import { type Claim, type Claimed, claimOperation } from "./postgres-claim.ts";
import { finishOperation } from "./postgres-finish.ts";
import { requeueOperation } from "./postgres-requeue.ts";
import { stopOperation } from "./postgres-stop.ts";
import { toRequestColumns } from "./rows.ts";

/** The other parts of the store that the writes of tasks use. */
interface Dependencies {
  /** The id of this node. */
  node: string;
  /** Whether this node posts callbacks. */
  delivers: boolean;
  readGapped: ReadGapped;
  /** Called after a stop request was stored. */
  onStop?(task: TaskIdentity, stop: StopRequest): void;
  /** Called after a claim has found a task of this provider that another node starts. */
  onForeignTask?(provider: string): void;
  /** Reports a callback that another node has to post: the node that has its origin, or null if none has it. */
  onForeignCallback?(owner: string | null): void;
}

/** The writes that change the state of a task or append to its log. */
export function createTaskWrites(writer: Pick<BatchWriter, "write">, dependencies: Dependencies) {
  const { node, delivers, readGapped, onStop = () => {}, onForeignTask = () => {}, onForeignCallback = () => {} } = dependencies;
  const rollup = createUsageRollup();
  let announceCallback: (callback: DueCallback) => void = () => {};

  async function end(from: "queued" | "running", task: Task, finish: Finish, patient: boolean): Promise<Task | null> {
    const bytes = finish.storedResult?.json.length ?? 0;
    const input = { task, from, finish, deliverer: delivers ? node : null, node, rollup };
    const ended = await writer.write(finishOperation, input, { patient, bytes });
    if (ended === null) return null;
    const { callback } = ended;
    if (callback?.owner === node) announceCallback(callback.toCallback(readGapped));
    else if (callback !== null) onForeignCallback(callback.owner);
    return ended.task;
  }

  return {
    insertTaskIfAbsent(task, { starts, limits } = { starts: false }) {
      const { request, metadata } = toRequestColumns(task);
      const bytes = request.length + (metadata?.length ?? 0);
      return writer.write(acceptOperation, { task, starts, limits, node }, { bytes });
    },
    async startNextTaskIfQueued(filter) {
      // Each claim runs in a separate batch, so that tasks of agents on other nodes do not delay other writes.
      let claim: Claim = { ...filter, node };
      for (;;) {
        const { task, next }: Claimed = await writer.write(claimOperation, claim, { patient: true });
        if (next === null) return task;
        // The node may have passed over the task while this claim held it.
        onForeignTask(filter.provider);
        claim = next;
      }
    },
    requeueTaskIfRunning: (task) => writer.write(requeueOperation, task, { patient: true }),
    async requestStopIfRunning(task, stop) {
      const stored = await writer.write(stopOperation, { task, stop });
      if (stored !== null) onStop(task, stored);
      return stored !== null;
    },
    finishTaskIfQueued: (task, finish, { patient } = { patient: true }) => end("queued", task, finish, patient),
    finishTaskIfRunning: (task, finish) => end("running", task, finish, true),
    appendEventsIfRunning: (task, events) =>
      writer.write(appendOperation, { task, events }, { patient: true, bytes: events.reduce((sum, { data }) => sum + data.length, 0) }),
    onCallback(listener) {
      announceCallback = listener;
    },
  } satisfies Partial<TaskStore & EventStore & CallbackStore>;
}
