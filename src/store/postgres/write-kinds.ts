import { acceptOperation } from "./accept-operation.ts";
import { appendOperation } from "./append-operation.ts";
import { askOperation, decideOperation, findAskingTaskOperation } from "./approval-writes.ts";
import type { AnyKind } from "./batch-transaction.ts";
import { releaseIdleOriginsOperation, takeOriginsOperation } from "./callback-origins.ts";
import { redeliverOperation, settleOperation } from "./callback-writes.ts";
import { claimOperation } from "./claim-operation.ts";
import { deleteOperation, purgeOperation } from "./deletion-writes.ts";
import { finishOperation } from "./finish-operation.ts";
import { deleteChunksOperation, insertChunksOperation } from "./long-text-writes.ts";
import { requeueOperation } from "./requeue-operation.ts";
import { checkOperation, pruneOperation } from "./retention-writes.ts";
import { stopOperation } from "./stop-operation.ts";
import { issueOperation, redeemOperation } from "./ticket-writes.ts";

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
