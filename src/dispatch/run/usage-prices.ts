import type { NormalizedUsage, UsageReport } from "#contract";
import type { PricedUsage, Pricing } from "../../pricing/pricing.ts";
import type { Spent } from "../../task.ts";
import { nothingSpent, withoutDust } from "./spent.ts";

/** Where the prices of a run come from. */
export interface UsagePricesOptions {
  pricing: Pick<Pricing, "load" | "priceOf">;
  /** The company whose models the runtime uses by default. */
  vendor: string | undefined;
  /** The model that the dispatch asks for. */
  requestedModel: string | undefined;
  /** In ms since the epoch. Default: the system's clock. */
  clock?(): number;
}

/** Creates the prices of what one run uses. */
export function createUsagePrices({ pricing, vendor, requestedModel, clock = Date.now }: UsagePricesOptions) {
  /** Reports that wait for the table of prices. */
  let waiting: (() => void)[] = [];
  let loading: Promise<void> | undefined;
  let isLoaded = false;

  async function load(): Promise<void> {
    await pricing.load();
    isLoaded = true;
    const ready = waiting;
    waiting = [];
    for (const count of ready) count();
  }

  /** A report without tokens contains only a cost, unless it is that of a call. */
  function priceReport({ model, requestedModel: asked, usage, costUsd, call }: UsageReport, at: number): Spent {
    const reported = call !== undefined || usage.inputTokens > 0 || usage.outputTokens > 0 ? usage : null;
    if (costUsd !== undefined) return { usage: reported, costUsd: withoutDust(costUsd), costSource: "runtime" };
    if (reported === null) return nothingSpent;
    return priceUsage({ models: [model, asked, requestedModel], usage, at: call?.startedAt ?? at, isOneCall: true });
  }

  function priceUsage(priced: Omit<PricedUsage, "vendor">): Spent {
    const costUsd = pricing.priceOf({ ...priced, vendor });
    const { usage } = priced;
    return costUsd === null ? { ...nothingSpent, usage } : { usage, costUsd: withoutDust(costUsd), costSource: "priced" };
  }

  return {
    /** Passes the price of a report, and that of its largest usage, to `onPriced`: at once, or when the table of prices is loaded. */
    price(data: UsageReport, onPriced: (spent: Spent, atMost: Spent) => void): void {
      const at = clock();
      const { usage, atMost = usage } = data;
      const count = (): void => onPriced(priceReport(data, at), priceReport({ ...data, usage: atMost }, at));
      if (isLoaded || data.costUsd !== undefined) count();
      else {
        waiting.push(count);
        loading ??= load();
      }
    },
    /** Resolves when no report waits for its price. Undefined if none has waited. */
    loading: (): Promise<void> | undefined => loading,
    /** Prices the sum of an unknown number of calls. */
    async priceSum(usage: NormalizedUsage, model: string | undefined): Promise<Spent> {
      const models = [model, requestedModel];
      if (models.every((name) => name === undefined)) return { ...nothingSpent, usage };
      await pricing.load();
      return priceUsage({ models, usage, at: clock(), isOneCall: false });
    },
  };
}
