import type { Approval, ApprovalState, BridgeEvent } from "bridge-client";
import { createApprovalDesk, type Question } from "../approval-desk.ts";
import { CommandError } from "../command-error.ts";
import { describeQuestion } from "../describe-question.ts";
import { exitCodes } from "../exit-codes.ts";
import { formatRelative } from "../format.ts";
import { type Column, printTable } from "../table.ts";
import { takeSome } from "../take-some.ts";
import type { Invocation, Run } from "../verb.ts";

interface Options {
  state?: ApprovalState | "all";
  limit?: number;
}

/** Lists approvals; with `watch`, asks for decisions on a terminal, and prints the requests in a pipe. */
export const run: Run<Options> = async (invocation) => {
  const { args, options, output, signal, connect } = invocation;
  const { state = "pending", limit = 50 } = options;
  if (args[0] === "watch") return watch(invocation);
  if (args[0] !== undefined) throw new CommandError("usage", `The argument of approvals must be watch; got "${args[0]}".`);
  const filter = state === "all" ? {} : { state };
  printTable(output, await takeSome(connect().client.approvals.list(filter, { signal }), limit, output), columns);
  return undefined;
};

const columns: Column<Approval>[] = [
  { title: "id", value: ({ approvalId }) => approvalId },
  { title: "state", value: ({ state }) => state, isOptional: true },
  { title: "task", value: ({ taskId }) => taskId },
  { title: "agent", value: ({ agentId }) => agentId, isFlexible: true, isOptional: true },
  { title: "tool", value: ({ toolName }) => toolName },
  { title: "created", value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => formatRelative(createdAt), isOptional: true },
  { title: "expires", value: ({ expiresAt }) => expiresAt, shown: ({ expiresAt }) => formatRelative(expiresAt) },
  { title: "by", value: ({ decidedBy }) => decidedBy, isOptional: true },
  { title: "input", value: ({ input }) => JSON.stringify(input), shown: describeQuestion, isFlexible: true },
];

async function watch({ output, signal, stdin, connect }: Invocation<Options>): ReturnType<Run<Options>> {
  const { client, follower } = connect();
  const desk = output.isInteractive ? createApprovalDesk(client, output, stdin) : null;
  const known = new Set<string>();
  // The stream is opened before the list is read, so that no request is missed between them.
  const events = follower.events(
    { types: ["tool.approval_requested", "tool.approval_resolved"] },
    { signal, onGap: () => void listPending() },
  );
  const first = events.next();
  first.catch(() => {});
  async function listPending(): Promise<void> {
    const pending: Approval[] = [];
    for await (const approval of client.approvals.list({ state: "pending" }, { signal })) pending.push(approval);
    for (const approval of pending.toReversed()) add(approval);
  }
  function add(approval: Question): void {
    if (known.has(approval.approvalId)) return;
    known.add(approval.approvalId);
    if (desk === null) output.printJson(approval, "line");
    else desk.add(approval);
  }
  function receive(event: BridgeEvent): void {
    if (event.type === "tool.approval_requested") add({ taskId: event.taskId, ...event.data });
    if (event.type === "tool.approval_resolved") desk?.withdraw(event.data.approvalId, `${event.data.decision} by ${event.data.by}`);
  }
  try {
    await listPending();
    output.note("Waiting for approvals. Stop with Ctrl-C.");
    for (let event = await first; event.done !== true; event = await events.next()) receive(event.value);
    return undefined;
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    desk?.close();
  }
}
