import { issueOperation, redeemOperation } from "./access/postgres.ts";
import { askOperation, decideOperation, findAskingTaskOperation } from "./approvals/postgres.ts";
import type { AnyKind } from "./engines/postgres/batch-transaction.ts";
import { appendOperation } from "./events/postgres.ts";
import { deleteOperation, purgeOperation } from "./maintenance/postgres-deletion.ts";
import { checkOperation, pruneOperation } from "./maintenance/postgres-retention.ts";
import { redeliverOperation, settleOperation } from "./posts/postgres-callbacks.ts";
import { releaseIdleOriginsOperation, takeOriginsOperation } from "./posts/postgres-origins.ts";
import { acceptOperation } from "./tasks/postgres-accept.ts";
import { claimOperation } from "./tasks/postgres-claim.ts";
import { finishOperation } from "./tasks/postgres-finish.ts";
import { deleteChunksOperation, insertChunksOperation } from "./tasks/postgres-texts.ts";
import { requeueOperation, stopOperation } from "./tasks/postgres-writes.ts";

/**
 * All kinds of writes, in the order in which a batch runs them. What a run of a task does comes before its end, and the end before a claim,
 * which needs the resume token that the end releases. Kinds that lock rows of tasks themselves are last.
 */
export const writeKinds: readonly AnyKind[] = [
  acceptOperation,
  deleteChunksOperation,
  insertChunksOperation,
  appendOperation,
  findAskingTaskOperation,
  askOperation,
  decideOperation,
  stopOperation,
  finishOperation,
  requeueOperation,
  settleOperation,
  redeliverOperation,
  takeOriginsOperation,
  releaseIdleOriginsOperation,
  issueOperation,
  redeemOperation,
  checkOperation,
  claimOperation,
  deleteOperation,
  purgeOperation,
  pruneOperation,
];
