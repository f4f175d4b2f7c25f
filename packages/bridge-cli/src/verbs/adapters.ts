import type { Adapter } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { formatRelative } from "../format.ts";
import { type Column, printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import type { Style } from "../text.ts";
import type { Run } from "../verb.ts";

interface Options {
  check?: boolean;
}

/** Lists the adapters, or the checks of one, on request after a new check. An adapter that is offline after a check is a failure. */
export const run: Run<Options> = async ({ args: [provider], options: { check = false }, output, signal, connect }) => {
  if (check && provider === undefined) throw new CommandError("usage", "--check needs the name of an adapter.");
  const { client } = connect();
  if (provider === undefined) {
    const adapters = await takeSome(client.listAdapters({ signal }), Number.POSITIVE_INFINITY, output);
    // In a terminal, an empty column would only take room from the details.
    const isHidden = output.format === "terminal" && adapters.every(({ cooldownUntil = null }) => cooldownUntil === null);
    printTable(output, adapters, isHidden ? columns.filter((column) => column !== cooldown) : columns);
    return undefined;
  }
  const adapter = check ? await client.checkAdapter(provider, { signal }) : await findAdapter();
  if (output.format === "json") output.printJson(adapter);
  else {
    printTable(output, [adapter], detailedColumns);
    // In a pipe, all lines of a command have the same columns.
    if (output.format === "terminal" && adapter.health.preflight.length > 0) {
      output.print("");
      printTable(output, adapter.health.preflight, stepColumns);
    }
  }
  return check && adapter.health.status === "offline" ? exitCodes.failed : undefined;

  async function findAdapter(): Promise<Adapter> {
    const adapters = await takeSome(client.listAdapters({ signal }), Number.POSITIVE_INFINITY, output);
    const found = adapters.find((one) => one.provider === provider);
    if (found !== undefined) return found;
    throw new CommandError("notFound", `There is no adapter "${provider}".`, {
      hint: `Adapters: ${adapters.map((one) => one.provider).join(", ")}.`,
    });
  }
};

const styles: Readonly<Record<Adapter["health"]["status"], Style>> = { healthy: "green", degraded: "yellow", offline: "red" };

/** The last column, because scripts read the columns by their position. */
const cooldown: Column<Adapter> = {
  title: "cooldown",
  value: ({ cooldownUntil }) => cooldownUntil,
  shown: ({ cooldownUntil }) => formatRelative(cooldownUntil),
  style: () => "yellow",
};

const columns: Column<Adapter>[] = [
  { title: "provider", value: ({ provider }) => provider },
  { title: "status", value: ({ health }) => health.status, style: ({ health }) => styles[health.status] },
  { title: "connection", value: ({ health }) => health.connection },
  { title: "version", value: ({ health }) => health.version },
  { title: "running", value: ({ running }) => running, align: "right" },
  { title: "max", value: ({ maxConcurrent }) => maxConcurrent, align: "right" },
  { title: "queued", value: ({ queued }) => queued, align: "right" },
  { title: "checked", value: ({ health }) => health.checkedAt, shown: ({ health }) => formatRelative(health.checkedAt) },
  { title: "detail", value: ({ health }) => health.detail, isFlexible: true },
  cooldown,
];

/** Of one adapter. Its detail often contains a command, which must not be cut. */
const detailedColumns: Column<Adapter>[] = [
  ...columns.slice(0, -2),
  { title: "detail", value: ({ health }) => health.detail, wraps: true },
  cooldown,
];

const stepColumns: Column<Adapter["health"]["preflight"][number]>[] = [
  { title: "check", value: ({ step }) => step },
  { title: "result", value: ({ ok }) => (ok ? "ok" : "failed"), style: ({ ok }) => (ok ? "green" : "red") },
  { title: "detail", value: ({ detail }) => detail, wraps: true },
];
