import type { Domain } from "bridge-client";
import { type Column, printTable } from "../table.ts";
import type { Run } from "../verb.ts";

/** Lists the domains of councils, including those that a workspace defines, and prints the faults of its settings file. */
export const run: Run<object> = async ({ args: [agentId], output, signal, connect }) => {
  const { domains, settingsFault } = await connect().client.listDomains(agentId, { signal });
  printTable(output, domains, columns);
  if (settingsFault !== null) output.note(settingsFault);
  return undefined;
};

const columns: Column<Domain>[] = [
  { title: "domain", value: ({ name }) => name },
  { title: "source", value: ({ source }) => source },
  { title: "expert", value: ({ expert }) => expert },
  { title: "signals", value: ({ signals }) => signals.join(", "), isFlexible: true },
];
