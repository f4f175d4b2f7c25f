import type { AttentionItem, FaultChoice, FaultKind } from "bridge-client";
import { CommandError } from "../command-error.ts";
import { formatRelative } from "../format.ts";
import { parseTime } from "../parse-time.ts";
import { type Column, printTable } from "../table.ts";
import type { Run } from "../verb.ts";

interface Options {
  limit?: number;
  acknowledged?: boolean;
  acknowledge?: FaultKind;
  receiver?: string;
  all?: boolean;
  until?: string;
}

/** Lists what needs a person, or acknowledges faults. */
export const run: Run<Options> = async ({ args: ids, options, output, signal, connect }) => {
  const { limit = 50, acknowledged, acknowledge } = options;
  const { attention } = connect().client;
  if (acknowledge === undefined) {
    if (ids.length > 0 || options.receiver !== undefined || options.all === true || options.until !== undefined)
      throw new CommandError("usage", "--acknowledge <kind> is missing.", {
        hint: "For example: brg attention --acknowledge callback build-77",
      });
    const list = await attention.list({ limit, acknowledged }, { signal });
    if (output.format === "json") output.printJson(list);
    else printTable(output, list.data, columns);
    for (const [kind, count] of Object.entries(list.counts))
      if (count > limit) output.note(`There are ${count} of ${kind}; --limit shows more.`);
    return undefined;
  }
  let count = 0;
  for (const faults of listFaults(acknowledge, ids, options)) count += await attention.acknowledge(faults, { signal });
  if (output.format === "json") output.printJson({ acknowledged: count });
  else output.print(output.format === "pipe" ? String(count) : `Acknowledged ${count} fault(s).`);
  return undefined;
};

function listFaults(kind: FaultKind, ids: readonly string[], options: Options): FaultChoice[] {
  const { receiver, all = false } = options;
  const until = parseTime("--until", options.until);
  if ([ids.length > 0, receiver !== undefined, all].filter(Boolean).length !== 1)
    throw new CommandError("usage", "--acknowledge needs ids, or --receiver, or --all.");
  if (receiver === undefined) return all ? [{ kind, all: true, until }] : ids.map((id) => ({ kind, id }));
  if (kind === "callback" || kind === "delivery") return [{ kind, receiver, until }];
  throw new CommandError("usage", "--receiver needs --acknowledge callback or --acknowledge delivery.");
}

const columns: Column<AttentionItem>[] = [
  { title: "kind", value: ({ kind }) => kind, style: ({ kind }) => (kind === "approval" ? "yellow" : "red") },
  { title: "id", value: ({ id }) => id },
  { title: "since", value: ({ at }) => at, shown: ({ at }) => formatRelative(at) },
  { title: "agent", value: ({ agentId }) => agentId, isOptional: true, isFlexible: true },
  { title: "receiver", value: ({ receiver }) => receiver, isOptional: true },
  { title: "by", value: ({ acknowledgedBy }) => acknowledgedBy, isOptional: true },
  { title: "detail", value: ({ detail }) => detail, isFlexible: true },
];
