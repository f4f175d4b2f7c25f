import type { ExecutionResult } from "#contract";
import { BridgeError } from "../../errors.ts";
import type { EventLog } from "../../events/event-log.ts";
import { buildFinish } from "../../results/build-finish.ts";
import { storeLongTexts } from "../../results/store-long-texts.ts";
import type { Store } from "../../store/store.ts";
import type { Task } from "../../task.ts";
import type { CreateFailure } from "./final-result.ts";

interface StoreEndOptions {
  store: Store;
  eventLog: EventLog;
  hasChildren: boolean;
  usedNoModel: boolean;
  createFailure: CreateFailure;
  onUnexpected(error: unknown): void;
}

/**
 * Stores the end of a task, even if its result cannot be stored, for example because it is cyclic or contains text that the database
 * rejects. Returns null if another end was stored first.
 */
export async function storeEnd(
  task: Task,
  result: ExecutionResult,
  { store, eventLog, hasChildren, usedNoModel, createFailure, onUnexpected }: StoreEndOptions,
): Promise<Task | null> {
  try {
    const marking = storeLongTexts({ store, eventLog }, task, result);
    const marked = marking === null ? null : await marking;
    return await store.finishTaskIfRunning(task, { ...buildFinish(task, result, marked), hasChildren, usedNoModel });
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    onUnexpected(error);
    const failure = createFailure("adapter_error", "The adapter's result cannot be stored.");
    return store.finishTaskIfRunning(task, buildFinish(task, failure));
  }
}
