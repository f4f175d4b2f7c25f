import type { AdapterLogger, NormalizedUsage } from "#contract";
import { type ModelPrices, priceByRow } from "./model-prices.ts";

/** Tokens whose price is requested. */
export interface PricedUsage {
  /** The names of the model: the reported one first, then the requested one. The first name with a price counts. */
  models: readonly (string | undefined)[];
  /** The company whose models the runtime uses by default. */
  vendor: string | undefined;
  usage: NormalizedUsage;
  /** When the model was called, in ms since the epoch. Prices depend on the date. */
  at: number;
  /** Whether the tokens are those of a single call. Otherwise they are the sum of an unknown number of calls. */
  isOneCall: boolean;
}

/** The prices of models: those that the operator sets, and a built-in table of list prices. */
export interface Pricing {
  /** Loads the table once. Without it, only the operator's prices are known. Never rejects. */
  load(): Promise<void>;
  /** Calculates a price in US dollars; null if the model is unknown or the token counts contradict each other. */
  priceOf(priced: PricedUsage): number | null;
  /** Whether the model has a price. */
  knows(model: string, vendor: string | undefined): boolean;
}

type Table = Pick<typeof import("@pydantic/genai-prices"), "calcPrice" | "findProvider">;
type Price = NonNullable<ReturnType<Table["calcPrice"]>>;
/** A vendor of the table with a single model, so that the table does not search for it. */
interface KnownModel {
  id: string;
  provider: Price["provider"];
}

/** A call with more input tokens can cost more per token. The lowest such limit in the table is 128,000 tokens. */
const UNIFORM_INPUT_TOKENS = 100_000;

/** Names whose place in the table is kept. Dispatches and runtimes choose the names. */
const MAX_NAMES = 1000;

/** Creates the prices of models. `own` is null if the operator sets none. */
export function createPricing(own: ModelPrices | null, logger: Pick<AdapterLogger, "error">): Pricing {
  let table: Table | undefined;
  let loading: Promise<void> | undefined;
  /** What the table has for a vendor and a name; null: nothing. A search takes up to 30 us, and most tasks use the same few models. */
  const known = new Map<string, KnownModel | null>();

  // Imported on first use, because the table needs 40 ms and 22 MB, and many installations never need it.
  async function loadTable(): Promise<void> {
    try {
      table = await import("@pydantic/genai-prices");
    } catch (err) {
      logger.error({ err }, "failed to load the table of model prices");
    }
  }

  function priceOf({ models, vendor, usage, at, isOneCall }: PricedUsage): number | null {
    const names = models.filter((name) => name !== undefined);
    const ownPrice = own === null ? null : priceByRow(own, [...names, ...names.map(withoutPrefix)], usage);
    if (ownPrice !== null || table === undefined) return ownPrice;
    try {
      const model = findFirst(table, names, vendor);
      return model === null ? null : priceByTable(table, model, { usage, at, isOneCall });
    } catch {
      // A contradiction in the token counts or in the table: the price is unknown.
      return null;
    }
  }

  function findFirst(from: Table, names: readonly string[], vendor: string | undefined): KnownModel | null {
    for (const name of names) {
      const model = findModel(from, name, vendor);
      if (model !== null) return model;
    }
    return null;
  }

  function findModel(from: Table, name: string, vendor: string | undefined): KnownModel | null {
    const key = `${vendor ?? ""}\n${name}`;
    let model = known.get(key);
    if (model === undefined) {
      model = searchTable(from, name, vendor);
      if (known.size === MAX_NAMES) known.clear();
      known.set(key, model);
    }
    return model;
  }

  return {
    load: () => (loading ??= loadTable()),
    priceOf,
    knows: (model, vendor) => priceOf({ models: [model], vendor, usage: NO_USAGE, at: Date.now(), isOneCall: true }) !== null,
  };
}

const NO_USAGE: NormalizedUsage = { inputTokens: 0, outputTokens: 0 };

/** Returns the name without the vendor before it, as in `anthropic/claude-sonnet-4-5`. */
const withoutPrefix = (name: string): string => name.slice(name.indexOf("/") + 1);

function searchTable(table: Table, name: string, vendor: string | undefined): KnownModel | null {
  for (const [lookup, options] of listLookups(table, name, vendor)) {
    const price = table.calcPrice(toTokens(NO_USAGE, 1), lookup, options);
    if (price === null) continue;
    const { id } = price.model;
    return { id, provider: { ...price.provider, models: [{ ...price.model, match: { equals: id } }] } };
  }
  return null;
}

/** Calculates a list price. The table throws an error if more tokens are cached than there are. */
function priceByTable(
  table: Table,
  { id, provider }: KnownModel,
  { usage, at, isOneCall }: Pick<PricedUsage, "usage" | "at" | "isOneCall">,
): number | null {
  // The price of a sum is that of equal calls, each below the limit from which a call costs more per token.
  const calls = isOneCall ? 1 : Math.max(1, Math.ceil(usage.inputTokens / UNIFORM_INPUT_TOKENS));
  const price = table.calcPrice(toTokens(usage, calls), id, { provider, timestamp: new Date(at) });
  return price === null ? null : price.total_price * calls;
}

/** The tokens of one of several equal calls, as the table names them. */
function toTokens(usage: NormalizedUsage, calls: number) {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  return {
    input_tokens: inputTokens / calls,
    output_tokens: outputTokens / calls,
    ...(cacheReadTokens > 0 && { cache_read_tokens: cacheReadTokens / calls }),
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens / calls }),
    ...(cacheWrite1hTokens > 0 && { cache_write_1h_tokens: cacheWrite1hTokens / calls }),
  };
}

/**
 * Lists under which names and vendors the table may have the model. A prefix names the vendor. A name alone is looked up only if it has
 * neither a prefix nor a tag: `ollama/llama3.3` and `deepseek-r1:7b` run on the user's machine, but resemble names of APIs.
 */
function listLookups(table: Table, name: string, vendor: string | undefined): [string, { providerId?: string }][] {
  const lookups: [string, { providerId?: string }][] = [];
  const slash = name.indexOf("/");
  const prefix = name.slice(0, Math.max(slash, 0));
  for (const [providerId, ownName] of [
    [prefix, withoutPrefix(name)],
    [vendor ?? "", name],
  ] as const)
    if (providerId !== "" && table.findProvider({ providerId }) !== undefined) lookups.push([ownName, { providerId }]);
  if (slash < 0 && !name.includes(":")) lookups.push([name, {}]);
  return lookups;
}
