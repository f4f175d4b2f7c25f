import type { TaskIdentity, TaskState } from "../../../task.ts";
import type { NewEvent } from "../../events/interface.ts";
import type { Row, Statement, Value } from "./connection.ts";

/**
 * A kind of write operation. A batch runs all its operations of one kind together, as statements on sets, and the kinds in a fixed order.
 * The result must be as if the operations ran one by one.
 */
export interface OperationKind<Input, Output> {
  readonly name: string;
  /**
   * What the operation changes. A number is the `seq` of a stored task, whose row the transaction locks before the first kind runs. A text
   * identifies anything else, and null means that no other operation can have the same subject. All keys of a kind have one of these types.
   * Operations with the same key take effect in the order of their calls.
   */
  keyOf(input: Input): number | string | null;
  /** Whether `run` handles several operations with one key, in the order of their calls. Otherwise they go into separate batches. */
  readonly isRepeatable: boolean;
  /** Whether the operation may start a task. Its batch then locks the row of this node, as `isMember` requires. */
  startsTask?(input: Input): boolean;
  /**
   * The tenant whose limits on running tasks the operation checks; null if it checks none. Its batch locks the tenant before the first
   * kind, because two nodes that count at the same time would both start the last permitted task.
   */
  limitedTenantOf?(input: Input): string | null;
  /**
   * The budgets whose counts the operation changes. Its batch locks them before the first kind, after the tenants, because a count that
   * another transaction changes at the same time would be lost.
   */
  budgetsOf?(input: Input): readonly string[];
  /**
   * Whether the kinds after this one may send their statements before this one has its answers. All that they can depend on must be in the
   * statements that `run` sends before its first wait.
   */
  overlaps?(inputs: readonly Input[]): boolean;
  /** Runs the operations, which are sorted by key so that nodes cannot deadlock. Returns one outcome for each, in the same order. */
  run(inputs: readonly Input[], transaction: Transaction): Promise<readonly Outcome<Output>[]>;
}

/** The result of an operation, and the events that it appends. The transaction numbers them at its end, in the order of the operations. */
export interface Outcome<Output> {
  readonly output: Output;
  readonly events?: readonly TaskEvent[];
}

/** An event about to be numbered. */
export interface TaskEvent extends NewEvent {
  readonly task: TaskIdentity;
}

/** The fields of a locked task that guards need. They cannot change before the end of the transaction, except by its own operations. */
export interface LockedTask {
  state: TaskState;
  restarts: number;
}

/** The transaction of a batch, as operations use it. */
export interface Transaction {
  /** The time of all its operations, by the clock of the server, in ms since the epoch. */
  readonly now: number;
  /**
   * The task with this number, if it exists and is the key of an operation of the batch. A kind that changes the state of a task updates
   * this object, for the kinds after it.
   */
  lockedTask(seq: number): LockedTask | undefined;
  /**
   * Whether this process is a member of the cluster until the end of the transaction. If not, other nodes may already end its tasks, so it
   * must start none. Always false in a batch without an operation that may start a task.
   */
  readonly isMember: boolean;
  /** The tags of this node, which tasks may need. */
  readonly tags: readonly string[];
  query(statement: Statement, values: readonly Value[]): Promise<readonly Row[]>;
}
