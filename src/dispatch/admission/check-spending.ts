import type { AdapterCapabilities } from "#contract";
import type { SpendingTask } from "../../budgets/budget.ts";
import type { Budgets, ExhaustedBudget } from "../../budgets/budgets.ts";
import { BridgeError } from "../../errors.ts";
import type { Metrics } from "../../metrics.ts";
import type { Pricing } from "../../pricing/pricing.ts";
import type { BudgetAsk } from "../../store/budgets/interface.ts";
import { MICROS_PER_USD, type TaskIdentity, type TaskRequest } from "../../task.ts";
import { readAgentFile } from "../../workspaces/prompt-files.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";

/** A task to check, and the sender of its dispatch. */
export interface SpendingOwner extends Pick<TaskIdentity, "tenant" | "agentId" | "provider"> {
  /** Name of the token of the dispatch; absent for a child task. */
  tokenName?: string | undefined;
}

interface SpendingCheckOptions {
  budgets: Budgets;
  pricing: Pricing;
  /** The company whose models an adapter uses by default. */
  vendorOf(provider: string): string | undefined;
  workspaces: Pick<Workspaces, "workspaceOf">;
  metrics: Pick<Metrics, "budgetRefusals">;
}

export type SpendingCheck = ReturnType<typeof createSpendingCheck>;

/** Creates the checks of what a task may spend. */
export function createSpendingCheck({ budgets, pricing, vendorOf, workspaces, metrics }: SpendingCheckOptions) {
  function toSpendingTask({ model, labels = {} }: TaskRequest, { tenant, agentId, provider, tokenName }: SpendingOwner): SpendingTask {
    const isDefault = model === undefined && budgets.dependOnModel();
    const resolved = isDefault ? readModel(workspaces.workspaceOf(tenant, agentId)) : model;
    return { tenant, agentId, provider, model: resolved ?? null, token: tokenName ?? null, labels };
  }

  /** Rejects a maximum that no period of a budget can hold. */
  function checkMaximum({ budget: own }: TaskRequest, task: SpendingTask): void {
    if (own === undefined) return;
    for (const { name, maxMicros, maxTokens } of budgets.listMatching(task)) {
      if (maxMicros !== null && (own.maxCostUsd ?? 0) * MICROS_PER_USD > maxMicros)
        throw createTooSmall(name, { path: "budget.maxCostUsd", value: own.maxCostUsd, maximum: maxMicros / MICROS_PER_USD });
      if (maxTokens !== null && (own.maxTokens ?? 0) > maxTokens)
        throw createTooSmall(name, { path: "budget.maxTokens", value: own.maxTokens, maximum: maxTokens });
    }
  }

  function checkExhausted(exhausted: readonly ExhaustedBudget[]): void {
    const refusing = exhausted.filter(({ budget }) => budget.whenReached === "refuse");
    const last = refusing.toSorted((a, b) => b.endsAt - a.endsAt)[0];
    if (last === undefined) return;
    metrics.budgetRefusals.inc();
    const retryAfterSeconds = Math.max(1, Math.ceil((last.endsAt - Date.now()) / 1000));
    throw new BridgeError(
      "budget_exhausted",
      `The budget ${last.budget.name} is spent until ${new Date(last.endsAt).toISOString()}. Dispatch again after that time.`,
      { retryAfterSeconds },
    );
  }

  /** Rejects a dispatch that wants a known cost if Bridge will not know it. */
  async function checkPrice({ model }: TaskRequest, { provider }: SpendingOwner): Promise<void> {
    await pricing.load();
    if (model !== undefined && pricing.knows(model, vendorOf(provider))) return;
    const remedy =
      model === undefined
        ? "set `model` to one with a known price, or omit `onUnknownCost`"
        : `no price of the model ${model} is known; set BRIDGE_MODEL_PRICES, for example {"${model}":{"input":3,"output":15}}, or omit onUnknownCost`;
    throw new BridgeError("capability_missing", "Bridge does not know the price of the model, and onUnknownCost is refuse.", {
      errors: [{ path: "budget.onUnknownCost", message: remedy }],
    });
  }

  return {
    /** Whether there are budgets of the operator. */
    isLimited: budgets.exist,
    /** Rejects a dispatch that can never start, or whose budget is spent. Throws BridgeError. */
    async check(request: TaskRequest, owner: SpendingOwner, capabilities: AdapterCapabilities): Promise<void> {
      if (needsPrice(request) && !capabilities.costTracking) await checkPrice(request, owner);
      if (!budgets.exist()) return;
      const task = toSpendingTask(request, owner);
      checkMaximum(request, task);
      checkExhausted(await budgets.listExhausted(task));
    },
    /** What a task asks of the budgets that apply to it, except for those of its parent. Undefined if none applies. */
    listAsks: (request: TaskRequest, owner: SpendingOwner, except: readonly string[] = []): Promise<BudgetAsk[] | undefined> =>
      budgets.listAsks(toSpendingTask(request, owner), { own: request.budget, except }),
  };
}

const needsPrice = ({ budget }: TaskRequest): boolean => budget?.onUnknownCost === "refuse" && budget.maxCostUsd !== undefined;

function createTooSmall(name: string, { path, value, maximum }: { path: string; value: number | undefined; maximum: number }): BridgeError {
  return new BridgeError("budget_too_small", `The maximum of the task is above that of the budget ${name}.`, {
    errors: [{ path, message: `must be at most ${maximum}, the maximum of the budget ${name}; got ${value}` }],
  });
}

/** The model of the agent; undefined for the default of the runtime. */
function readModel(workspace: string): string | undefined {
  try {
    return readAgentFile(workspace).model;
  } catch {
    // The task reports a fault of agent.json when it starts.
    return undefined;
  }
}
