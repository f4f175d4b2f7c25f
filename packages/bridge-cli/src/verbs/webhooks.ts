import type { CallbackState, Webhook, WebhookDelivery } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { formatRelative } from "../format.ts";
import { type Column, printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import type { Run } from "../verb.ts";

interface Options {
  state?: CallbackState;
  limit?: number;
  /** Id of a delivery. */
  redeliver?: string;
  redeliverDead?: boolean;
}

/** Lists webhooks, or the deliveries of one, and redelivers dead ones. */
export const run: Run<Options> = async ({ args: [name], options, output, signal, connect }) => {
  const { state, limit = 50, redeliver, redeliverDead = false } = options;
  const { webhooks } = connect().client;
  if (name === undefined) {
    if (redeliver !== undefined || redeliverDead || state !== undefined)
      throw new CommandError("usage", "The name of the webhook is missing.", { hint: "List the webhooks with: brg webhooks" });
    printTable(output, await takeSome(webhooks.list({ signal }), limit, output), webhookColumns);
  } else if (redeliverDead) {
    const redelivered = await webhooks.redeliverAll(name, { signal });
    if (output.format === "json") output.printJson({ redelivered });
    else output.print(output.format === "pipe" ? String(redelivered) : `Redelivering ${redelivered} deliveries.`);
  } else if (redeliver !== undefined) printTable(output, [await webhooks.redeliver(name, redeliver, { signal })], deliveryColumns);
  else printTable(output, await takeSome(webhooks.listDeliveries(name, { state }, { signal }), limit, output), deliveryColumns);
  return undefined;
};

const webhookColumns: Column<Webhook>[] = [
  { title: "webhook", value: ({ name }) => name },
  { title: "pending", value: ({ pending }) => pending, align: "right" },
  { title: "dead", value: ({ dead }) => dead, style: ({ dead }) => (dead > 0 ? "red" : null), align: "right" },
  { title: "origin", value: ({ origin }) => origin },
  { title: "types", value: ({ types }) => types.join(","), isFlexible: true },
];

const styles = { pending: "cyan", delivered: "green", dead: "red" } as const;
const deliveryColumns: Column<WebhookDelivery>[] = [
  { title: "delivery", value: ({ deliveryId }) => deliveryId },
  { title: "state", value: ({ state }) => state, style: ({ state }) => styles[state] },
  { title: "type", value: ({ type }) => type },
  { title: "task", value: ({ taskId }) => taskId, isOptional: true },
  { title: "attempts", value: ({ attempts }) => attempts, align: "right", isOptional: true },
  { title: "updated", value: ({ updatedAt }) => updatedAt, shown: ({ updatedAt }) => formatRelative(updatedAt), isOptional: true },
  { title: "error", value: ({ lastError }) => lastError, isFlexible: true },
];
