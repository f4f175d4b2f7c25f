import { accessKinds } from "./access/postgres.ts";
import { approvalKinds } from "./approvals/postgres.ts";
import { budgetKinds } from "./budgets/postgres.ts";
import type { AnyKind } from "./engines/postgres/batch-transaction.ts";
import { eventKinds } from "./events/postgres.ts";
import { deletionKinds } from "./maintenance/postgres-deletion.ts";
import { checkOperation, pruneOperation } from "./maintenance/postgres-retention.ts";
import { callbackKinds } from "./posts/postgres-callbacks.ts";
import { correctScheduleOperation } from "./posts/postgres-schedule.ts";
import { repositoryKinds } from "./repositories/postgres.ts";
import { acceptOperation } from "./tasks/postgres-accept.ts";
import { claimOperation } from "./tasks/postgres-claim.ts";
import { textKinds } from "./tasks/postgres-texts.ts";
import { endKinds } from "./tasks/postgres-writes.ts";

/**
 * All kinds of writes, in the order in which a batch runs them. What a run of a task does comes before its end, and the end before a claim,
 * which needs the resume token that the end releases. Kinds that lock rows of tasks themselves are last.
 */
export const writeKinds: readonly AnyKind[] = [
  acceptOperation,
  ...textKinds,
  ...eventKinds,
  ...approvalKinds,
  ...endKinds,
  ...callbackKinds,
  ...accessKinds,
  ...repositoryKinds,
  ...budgetKinds,
  checkOperation,
  claimOperation,
  ...deletionKinds,
  pruneOperation,
  correctScheduleOperation,
];
