import type { AdapterCapabilities } from "#contract";
import type { SpendingTask } from "../../budgets/budget.ts";
import type { Budgets } from "../../budgets/budgets.ts";
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

  async function checkExhausted(task: SpendingTask): Promise<void> {
    const exhausted = (await budgets.listExhausted(task)).filter(({ budget }) => budget.whenReached === "refuse");
    const last = exhausted.toSorted((a, b) => b.endsAt - a.endsAt)[0];
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
  async function checkPrice({ budget, model }: TaskRequest, { provider }: SpendingOwner, capabilities: AdapterCapabilities): Promise<void> {
    if (budget?.onUnknownCost !== "refuse" || budget.maxCostUsd === undefined || capabilities.costTracking) return;
    await pricing.load();
    if (model !== undefined && pricing.knows(model, vendorOf(provider))) return;
    const remedy =
      model === undefined
        ? "name a model with a known price, or omit it"
        : `no price of the model ${model} is known; set BRIDGE_MODEL_PRICES, for example {"${model}":{"input":3,"output":15}}, or omit it`;
    throw new BridgeError("capability_missing", "The cost of the task would be unknown, which its budget refuses.", {
      errors: [{ path: "budget.onUnknownCost", message: remedy }],
    });
  }

  return {
    /** Whether there are budgets of the operator. */
    isLimited: budgets.exist,
    /** Rejects a dispatch that can never start, or whose budget is spent. Throws BridgeError. */
    async check(request: TaskRequest, owner: SpendingOwner, capabilities: AdapterCapabilities): Promise<void> {
      if (request.budget?.onReached === "ask")
        throw new BridgeError("capability_missing", "Bridge cannot ask for an approval at the maximum of a budget yet.", {
          errors: [{ path: "budget.onReached", message: 'must be "stop"; "ask" is not supported yet' }],
        });
      await checkPrice(request, owner, capabilities);
      if (!budgets.exist()) return;
      const task = toSpendingTask(request, owner);
      checkMaximum(request, task);
      await checkExhausted(task);
    },
    /** What a task asks of the budgets that apply to it, except for those of its parent. Undefined if none applies. */
    async listAsks(request: TaskRequest, owner: SpendingOwner, except: readonly string[] = []): Promise<BudgetAsk[] | undefined> {
      if (!budgets.exist()) return undefined;
      return budgets.listAsks(toSpendingTask(request, owner), { own: request.budget, except });
    },
  };
}

function createTooSmall(name: string, { path, value, maximum }: { path: string; value: number | undefined; maximum: number }): BridgeError {
  return new BridgeError("budget_too_small", `The task may spend more than the budget ${name} has in a whole period.`, {
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
