import { CommandError } from "../command-error.ts";
import { takeSome } from "../take-some.ts";
import type { Run } from "../verb.ts";

/** Maximum values that a completion offers. */
const MAX_VALUES = 100;

/** Prints values for the completion of a shell: `tasks`, `adapters`, `agents`, `approvals` or `webhooks`. */
export const run: Run<object> = async ({ args: [kind = "", start = ""], output, signal, connect }) => {
  const { client } = connect();
  const list: Record<string, () => AsyncIterable<string>> = {
    tasks: () => mapEach(client.listTasks(start === "" ? {} : { idPrefix: start }, { signal }), ({ taskId }) => taskId),
    adapters: () => mapEach(client.listAdapters({ signal }), ({ provider }) => provider),
    agents: () => mapEach(client.listAgents({ signal }), ({ agentId }) => agentId),
    approvals: () => mapEach(client.approvals.list({ state: "pending" }, { signal }), ({ approvalId }) => approvalId),
    webhooks: () => mapEach(client.webhooks.list({ signal }), ({ name }) => name),
  };
  if (!Object.hasOwn(list, kind)) throw new CommandError("usage", `The kind must be ${Object.keys(list).join(", ")}; got "${kind}".`);
  const values = await takeSome((list[kind] as () => AsyncIterable<string>)(), MAX_VALUES, { ...output, note: () => {} });
  // A value with other characters would need quotes in the shell.
  for (const value of values) if (/^[\w.:@/-]+$/.test(value)) output.print(value);
  return undefined;
};

async function* mapEach<T>(list: AsyncIterable<T>, toText: (item: T) => string): AsyncGenerator<string, void> {
  for await (const item of list) yield toText(item);
}
