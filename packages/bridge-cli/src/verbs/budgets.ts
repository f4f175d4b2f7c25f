import type { Budget } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { formatCost, formatCount, formatRelative } from "../format.ts";
import { type Column, printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import type { Run } from "../verb.ts";

interface Options {
  reason?: string;
}

/** Lists the budgets; with `adjust`, corrects what is spent of one. */
export const run: Run<Options> = async ({ args, options: { reason }, output, signal, connect }) => {
  const [action, name, usd] = args;
  const { budgets } = connect().client;
  if (action === undefined) {
    printTable(output, await takeSome(budgets.list({ signal }), Number.POSITIVE_INFINITY, output), columns);
    return undefined;
  }
  if (action !== "adjust") throw new CommandError("usage", `The argument of budgets must be adjust; got "${action}".`);
  const spentUsd = Number(usd);
  if (name === undefined || usd === undefined || !(spentUsd >= 0) || reason === undefined)
    throw new CommandError("usage", "adjust needs a budget, what is spent in US dollars, and --reason.", {
      hint: 'For example: brg budgets adjust day 12.5 --reason "A price was wrong."',
    });
  printTable(output, [await budgets.adjust(name, { spentUsd, reason }, { signal })], columns);
  return undefined;
};

const styles = { ok: "green", warning: "yellow", reached: "red" } as const;
const BAR_WIDTH = 10;

const columns: Column<Budget>[] = [
  { title: "budget", value: ({ name }) => name },
  { title: "state", value: ({ state }) => state, style: ({ state }) => styles[state] },
  { title: "used", value: shareOf, shown: toBar, style: ({ state }) => styles[state], isOptional: true },
  { title: "spent", value: ({ spentUsd }) => spentUsd, shown: ({ spentUsd }) => formatCost(spentUsd), align: "right" },
  { title: "reserved", value: ({ reservedUsd }) => reservedUsd, shown: ({ reservedUsd }) => formatCost(reservedUsd), align: "right" },
  { title: "max", value: ({ maxCostUsd }) => maxCostUsd, shown: ({ maxCostUsd }) => formatCost(maxCostUsd), align: "right" },
  { title: "tokens", value: ({ spentTokens }) => spentTokens, shown: ({ spentTokens }) => formatCount(spentTokens), align: "right" },
  { title: "max tokens", value: ({ maxTokens }) => maxTokens, shown: ({ maxTokens }) => formatCount(maxTokens), align: "right" },
  { title: "waiting", value: ({ waitingTasks }) => waitingTasks, align: "right" },
  { title: "per", value: ({ per }) => per },
  { title: "ends", value: ({ periodEnd }) => periodEnd, shown: ({ periodEnd }) => formatRelative(periodEnd), isOptional: true },
];

/** The share of the maximum that is spent: of the cost or of the tokens, whichever is larger. */
function shareOf({ spentUsd, maxCostUsd, spentTokens, maxTokens }: Budget): number {
  const cost = maxCostUsd === null ? 0 : spentUsd / maxCostUsd;
  return Math.max(cost, maxTokens === null ? 0 : spentTokens / maxTokens);
}

function toBar(budget: Budget): string {
  const share = shareOf(budget);
  const filled = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
  return `${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)} ${Math.round(share * 100)} %`;
}
