import { sleep } from "@hak2i/async-kit";
import type { ApprovalAnswer } from "#contract";
import type { Approvals } from "../../approvals/approvals.ts";
import type { Raises } from "../../store/approvals/interface.ts";
import { toAmounts } from "../../store/budgets/rows.ts";
import type { Store } from "../../store/store.ts";
import { MICROS_PER_USD } from "../../task.ts";
import type { Run } from "./run-task.ts";
import type { BudgetApproval, RaiseRequest } from "./spending-guard.ts";

interface BudgetApprovalOptions {
  store: Pick<Store, "readRaises">;
  approvals: Pick<Approvals, "ask">;
  /** Called when the raises could not be read. They are read again. */
  onFault(error: unknown): void;
}

/** Delay before the raises of a task are read again after a fault of the database. */
const READ_RETRY_MS = 1_000;

/** Creates the approval of a higher maximum for a running task. The store keeps the decisions. */
export function createBudgetApproval(run: Run, { store, approvals, onFault }: BudgetApprovalOptions): BudgetApproval {
  return {
    async request(request): Promise<ApprovalAnswer> {
      if (run.isOver) return { decision: "reject", reason: "The task has ended." };
      return approvals.ask(run.task, { kind: "budget", input: describeRequest(request), raises: request.raises }, run.overSignal);
    },
    async readRaises(): Promise<Raises> {
      while (!run.isOver)
        try {
          return await store.readRaises(run.task.seq);
        } catch (error) {
          onFault(error);
          await sleep(READ_RETRY_MS, run.overSignal).catch(() => {});
        }
      return { micros: 0, tokens: 0 };
    },
  };
}

/** What the approval shows. Null: unknown, or no maximum. */
function describeRequest({ spending: { known, counted }, cap: { maxMicros, maxTokens } }: RaiseRequest): Record<string, number | null> {
  const [spentTokens, atMostTokens] = [toAmounts(known).tokens, toAmounts(counted).tokens];
  return {
    ...{ spentUsd: known.costUsd, maxCostUsd: maxMicros === null ? null : maxMicros / MICROS_PER_USD, spentTokens, maxTokens },
    ...(counted.costUsd !== known.costUsd && { atMostUsd: counted.costUsd }),
    ...(atMostTokens !== spentTokens && { atMostTokens }),
  };
}
