import type { EventType } from "bridge-client";
import { InvalidArgumentError } from "commander";
import type { OptionEntry, VerbEntry } from "./verb.ts";

/** What the groups of commands do. */
export const groups: Readonly<Record<string, string>> = {
  profile: "Manage the saved addresses and tokens.",
};

/** The options that every command has. */
export const sharedOptions: readonly OptionEntry[] = [
  { flags: "--url <url>", text: "address of Bridge (BRIDGE_URL)" },
  { flags: "--profile <name>", text: "saved address and token (BRIDGE_PROFILE)" },
  { flags: "-q, --quiet", text: "print no progress" },
  { flags: "--json [fields]", text: "print JSON, with =a,b only these fields" },
  { flags: "--no-color", text: "print no colors (NO_COLOR)" },
];

const taskStates = ["queued", "running", "completed", "failed", "cancelled"];
const callbackStates = ["pending", "delivered", "dead"];
const eventTypes: readonly EventType[] = [
  "execution.started",
  "execution.progress",
  "execution.completed",
  "execution.failed",
  "assistant.text",
  "assistant.text_discarded",
  "tool.invoked",
  "tool.completed",
  "budget.warning",
  "tool.approval_requested",
  "tool.approval_resolved",
  "callback.delivered",
  "callback.dead",
];
const limit = (fallback: number): OptionEntry => ({
  flags: "-n, --limit <n>",
  text: `maximum number of entries (default: ${fallback})`,
  parse: parseInteger(1, 100_000),
});
const waitLimit = (flags: string): OptionEntry => ({
  flags,
  text: "stop waiting after this time with exit code 124",
  parse: parseInteger(0, 31_536_000),
});

/** Options that describe a task. */
const taskOptions: readonly OptionEntry[] = [
  { flags: "-a, --agent <id>", text: "agent that runs the task" },
  { flags: "-p, --provider <name>", text: "adapter that runs the agent" },
  { flags: "-m, --model <name>", text: "model" },
  { flags: "--profile <profile>", text: "inspect: read only; modify: edit files and run commands", parse: parseTaskProfile },
  { flags: "--approvals <mode>", text: "what happens to calls that need permission", choices: ["ask", "deny", "allow"] },
  { flags: "--timeout <seconds>", text: "time limit of the task", parse: parseInteger(1, 86_400) },
  { flags: "--max-cost <usd>", text: "US dollars that the task may spend", parse: parseAmount },
  { flags: "--max-tokens <n>", text: "tokens that the task may use", parse: parseInteger(1, 999_999_999) },
  { flags: "--on-reached <action>", text: "what happens at --max-cost or --max-tokens: stop, or ask a person", choices: ["stop", "ask"] },
  { flags: "--fallback <adapter[=model]>", text: "adapter to continue on if the vendor rejects calls (repeatable)", parse: collect },
  { flags: "--retry <n>", text: "how often to try again after rate_limited and model_error", parse: parseInteger(1, 5) },
  {
    flags: "--when-limited <action>",
    text: "what happens at a usage limit of the vendor: fail, or wait for its end",
    choices: ["fail", "wait"],
  },
  { flags: "--label <name=value>", text: "label of the task (repeatable)", parse: collectPairs },
  { flags: "--schema <json>", text: "JSON Schema of the output, or @ and a file that contains it" },
  { flags: "--file <[path=]file>", text: "file for the workspace of the agent (repeatable)", parse: collect },
  { flags: "--id <taskId>", text: "id of the task; a repeated id dispatches nothing twice" },
  { flags: "--callback <url>", text: "receives the result" },
  { flags: "--resume <token>", text: "continue the session of this resume token" },
  { flags: "--metadata <json>", text: "JSON object that the callback repeats, or @ and a file that contains it" },
  { flags: "--system-prompt <text>", text: "system prompt, or @ and a file that contains it" },
  { flags: "--cwd <directory>", text: "directory in the workspace, or in the work tree, in which the task runs" },
  { flags: "--repo <name[@ref]>", text: "run the task in a work tree of this repository", parse: parseRepository },
  { flags: "--branch <name>", text: "with --repo: branch of the task (default: bridge/ and its id)" },
  { flags: "--keep <mode>", text: "with --repo: what Bridge stores at the end (default: branch)", choices: ["branch", "diff", "none"] },
  { flags: "--push", text: "with --repo: push the branch at the end" },
  { flags: "--field <name=value>", text: "any other field of the API; the value is JSON or a text (repeatable)", parse: collectFields },
];
/** Options for what happens after the dispatch. */
const followOptions: readonly OptionEntry[] = [
  { flags: "--detach", text: "print the id of the task, and do not follow it", conflicts: ["wait"] },
  { flags: "--dry-run", text: "print what the dispatch would do, and dispatch nothing", conflicts: ["detach", "wait"] },
  waitLimit("--wait <seconds>"),
];

/** All commands, in the order of the help. */
export const verbs: readonly VerbEntry[] = [
  {
    name: "dispatch",
    arguments: "[message]",
    summary: 'Dispatch a task, follow it, and print its output. The message "-" is read from stdin.',
    options: [
      ...taskOptions,
      ...followOptions,
      { flags: "--from <file>", text: "dispatch the tasks in this file, one JSON object per line; -: stdin", conflicts: ["wait"] },
      { flags: "-j, --jobs <n>", text: "with --from: tasks at the same time (default: 4)", parse: parseInteger(1, 256) },
    ],
    help: [
      "--profile of this command is the permission of the task. To select a saved address, use",
      "brg --profile <name> dispatch …, or BRIDGE_PROFILE.",
      "",
      "Ctrl-C stops following the task, which continues. Press it again within 2 seconds to cancel the task.",
      "",
      "A line of --from has the fields of the API, such as agentId and message. Options apply to lines without that field.",
      "Each task gets an id from --id (default: the name of the file) and its line, so repeating the command runs nothing twice.",
    ].join("\n"),
    load: () => import("./verbs/dispatch.ts"),
  },
  {
    name: "rerun",
    arguments: "<id>",
    summary: "Dispatch the request of a task again, with another id. Options change the request.",
    options: [...taskOptions, ...followOptions],
    load: () => import("./verbs/rerun.ts"),
  },
  {
    name: "tasks",
    summary: "List tasks, newest first.",
    options: [
      { flags: "-s, --state <state>", text: "in this state", choices: taskStates, parse: parseTaskState },
      { flags: "-a, --agent <id>", text: "of this agent" },
      { flags: "-p, --provider <name>", text: "of this adapter" },
      { flags: "--error <code>", text: "that ended with this error code" },
      { flags: "--callback <state>", text: "whose callback is in this state", choices: callbackStates },
      { flags: "--after <time>", text: "created after this time, for example 2026-11-22T09:30:00Z or 2h" },
      { flags: "--before <time>", text: "created before this time" },
      { flags: "--finished-after <time>", text: "ended after this time" },
      { flags: "--finished-before <time>", text: "ended before this time" },
      { flags: "--id-prefix <text>", text: "whose id begins with this text" },
      { flags: "--root <id>", text: "this task and all tasks below it; *: tasks without a parent" },
      { flags: "--label <name=value>", text: "with this label" },
      { flags: "--search <text>", text: "whose title contains this text" },
      limit(50),
      { flags: "-w, --watch", text: "show the list again whenever it changes, until Ctrl-C" },
    ],
    load: () => import("./verbs/tasks.ts"),
  },
  {
    name: "task",
    arguments: "<id>",
    summary: "Print one task, with its request and its result.",
    options: [{ flags: "-w, --watch", text: "show the task again whenever it changes, until it has ended" }],
    load: () => import("./verbs/task.ts"),
  },
  {
    name: "tail",
    arguments: "[id]",
    summary: "Follow the events of a task, or the new events of all tasks.",
    options: [
      { flags: "--types <types>", text: "only these types, separated by commas", parse: parseEventTypes },
      { flags: "--since <time>", text: "also stored events of all tasks since this time, or of this long, such as 2h" },
      { flags: "--after <eventId>", text: "continue after this event" },
    ],
    load: () => import("./verbs/tail.ts"),
  },
  {
    name: "wait",
    arguments: "<id...>",
    summary: "Wait for tasks. The exit code is that of the first one that did not complete.",
    options: [waitLimit("--timeout <seconds>")],
    load: () => import("./verbs/wait.ts"),
  },
  {
    name: "cancel",
    arguments: "<id...>",
    summary: "Cancel tasks, and wait for their end.",
    load: () => import("./verbs/cancel.ts"),
  },
  {
    name: "delete",
    arguments: "<id...>",
    summary: "Delete ended tasks, with their child tasks and all their data.",
    load: () => import("./verbs/delete.ts"),
  },
  {
    name: "attention",
    arguments: "[id...]",
    summary: "List what needs a person, or acknowledge faults.",
    options: [
      limit(50),
      { flags: "--acknowledged", text: "list the faults that were acknowledged instead" },
      {
        flags: "--acknowledge <kind>",
        text: "acknowledge the faults of this kind",
        choices: ["failure", "callback", "delivery", "adapter"],
      },
      { flags: "--receiver <name>", text: "those of this origin of callbacks, or of this webhook" },
      { flags: "--all", text: "all of the kind" },
      { flags: "--until <time>", text: "with --receiver or --all: only those that arose until then" },
    ],
    load: () => import("./verbs/attention.ts"),
  },
  {
    name: "approvals",
    arguments: "[watch]",
    summary: "List approvals. With watch, ask for a decision on each one that waits.",
    options: [
      { flags: "-s, --state <state>", text: "in this state (default: pending)", choices: ["pending", "approved", "rejected", "all"] },
      limit(50),
    ],
    load: () => import("./verbs/approvals.ts"),
  },
  {
    name: "approve",
    arguments: "<id>",
    summary: "Approve a tool call, or a higher maximum of a task's budget.",
    options: [
      { flags: "--reason <text>", text: "stored with the decision" },
      {
        flags: "--raise <usd>",
        text: "by how many US dollars the budget grows (default: the maximum of the dispatch)",
        parse: parseAmount,
      },
    ],
    load: () => import("./verbs/approve.ts"),
  },
  {
    name: "reject",
    arguments: "<id>",
    summary: "Reject a tool call, or a higher maximum of a task's budget.",
    options: [{ flags: "--reason <text>", text: "stored with the decision, and passed to the agent" }],
    load: () => import("./verbs/reject.ts"),
  },
  {
    name: "callbacks",
    arguments: "[taskId]",
    summary: "List callbacks, or the attempts of one.",
    options: [{ flags: "-s, --state <state>", text: "in this state", choices: callbackStates }, limit(50)],
    load: () => import("./verbs/callbacks.ts"),
  },
  {
    name: "redeliver",
    arguments: "[taskId]",
    summary: "Deliver a dead callback again, or all dead callbacks of a receiver.",
    options: [
      { flags: "--dead", text: "all dead callbacks of the receiver in --origin" },
      { flags: "--origin <url>", text: "scheme, host and port of the receiver" },
    ],
    load: () => import("./verbs/redeliver.ts"),
  },
  {
    name: "webhooks",
    arguments: "[name]",
    summary: "List webhooks, or the deliveries of one, and deliver dead ones again.",
    options: [
      { flags: "-s, --state <state>", text: "deliveries in this state", choices: callbackStates },
      limit(50),
      { flags: "--redeliver <id>", text: "deliver this dead delivery again", conflicts: ["redeliverDead", "state"] },
      { flags: "--redeliver-dead", text: "deliver all dead deliveries of the webhook again", conflicts: ["state"] },
    ],
    load: () => import("./verbs/webhooks.ts"),
  },
  {
    name: "listen",
    summary: "Receive callbacks on this machine, and forward them to a local server.",
    options: [
      { flags: "--forward-to <url>", text: "the server that gets them" },
      { flags: "--port <port>", text: "port on which to receive them (default: a free one)", parse: parseInteger(0, 65_535) },
      { flags: "--host <address>", text: "address on which to receive them (default: 127.0.0.1)" },
    ],
    help: [
      "Signatures are verified with the secrets in BRIDGE_CALLBACK_SECRETS. On a terminal, bridge asks for a secret",
      "if this variable is not set. Bridge gets the status and the body that the server answers.",
    ].join("\n"),
    load: () => import("./verbs/listen.ts"),
  },
  {
    name: "files",
    arguments: "<id> [path]",
    summary: "List the files that a task left in its workspace, or print one.",
    load: () => import("./verbs/files.ts"),
  },
  {
    name: "diff",
    arguments: "<id>",
    summary: "Print the changes of a task to its git work tree.",
    load: () => import("./verbs/diff.ts"),
  },
  {
    name: "apply",
    arguments: "<id>",
    summary: "Apply the changes of a task to the git work tree of this directory.",
    options: [
      { flags: "--check", text: "only find out whether the changes apply" },
      { flags: "--3way", text: "merge the changes, with conflict markers where they do not apply", conflicts: ["check"] },
    ],
    help: [
      "Nothing is changed unless all changes apply. Changes that are incomplete or binary are rejected.",
      "",
      "The commits of a task that ran in a work tree of a repository are applied as git am --3way does.",
      "With --3way, its changes are merged without its commits.",
    ].join("\n"),
    load: () => import("./verbs/apply.ts"),
  },
  {
    name: "repositories",
    arguments: "[name]",
    summary: "List repositories, or the stored branches of one.",
    load: () => import("./verbs/repositories.ts"),
  },
  {
    name: "adapters",
    arguments: "[provider]",
    summary: "List the adapters, or the checks of one.",
    options: [{ flags: "--check", text: "check the health of this adapter now" }],
    load: () => import("./verbs/adapters.ts"),
  },
  {
    name: "domains",
    arguments: "[agent]",
    summary: "List the domains of councils, including those that an agent's workspace defines.",
    load: () => import("./verbs/domains.ts"),
  },
  {
    name: "doctor",
    summary: "Check the connection, the token and the adapters, and name what mends each fault.",
    options: [
      { flags: "-p, --provider <name>", text: "check only this adapter" },
      { flags: "--callback <url>", text: "also post a test callback to this address" },
    ],
    help: [
      "The exit code is 0 if no check failed; warnings do not count.",
      "",
      "--callback dispatches a task and cancels it at once. Bridge posts its result, signed as every other one.",
    ].join("\n"),
    load: () => import("./verbs/doctor.ts"),
  },
  {
    name: "usage",
    summary: "Sum up what tasks have used and what they cost.",
    options: [
      { flags: "--window <window>", text: "period (default: 24h)", choices: ["24h", "7d", "30d", "90d", "365d"] },
      { flags: "--today", text: "since midnight, in local time" },
      { flags: "--yesterday", text: "the day before today, in local time" },
      { flags: "--from <time>", text: "from this time on, such as 2026-11-27 (local time), 2026-11-22T09:30:00Z or 2d" },
      { flags: "--to <time>", text: "with --from: until this time, exclusive (default: now)" },
      { flags: "--by <group>", text: "groups (default: agent)", choices: ["agent", "provider", "model", "label", "day", "hour"] },
      { flags: "-n, --limit <n>", text: "maximum number of groups (default: 20)", parse: parseInteger(1, 100) },
    ],
    load: () => import("./verbs/usage.ts"),
  },
  {
    name: "budgets",
    arguments: "[adjust] [name] [usd]",
    summary: "List the budgets. With adjust, correct what is spent of one.",
    options: [{ flags: "--reason <text>", text: "with adjust: stored with the change" }],
    load: () => import("./verbs/budgets.ts"),
  },
  {
    name: "ui",
    summary: "Open the console, signed in, and print the link. It is valid once, within 60 seconds.",
    options: [{ flags: "--no-open", text: "only print the link" }],
    load: () => import("./verbs/ui.ts"),
  },
  {
    name: "profile add",
    arguments: "<name>",
    summary: "Save an address and a token. The token is read from the terminal or from stdin.",
    options: [
      { flags: "--token-file <file>", text: "read the token from this file instead", conflicts: ["tokenCommand"] },
      { flags: "--token-command <command>", text: "run this command to get the token instead" },
      { flags: "--no-check", text: "do not check the address and the token" },
    ],
    load: () => import("./verbs/profile-add.ts"),
  },
  {
    name: "profile use",
    arguments: "<name>",
    summary: "Select the profile that commands use.",
    load: () => import("./verbs/profile-use.ts"),
  },
  { name: "profile list", summary: "List the profiles.", load: () => import("./verbs/profile-list.ts") },
  {
    name: "completion",
    arguments: "<shell>",
    summary: "Print the completion script for bash, zsh or fish.",
    load: () => import("./verbs/completion.ts"),
  },
  {
    name: "complete",
    arguments: "<kind> [start]",
    summary: "Print values for the completion of a shell.",
    isHidden: true,
    load: () => import("./verbs/complete.ts"),
  },
  { name: "version", summary: "Print the versions of this program and of Bridge.", load: () => import("./verbs/version.ts") },
];

function parseAmount(text: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("It must be a number of US dollars, for example 2.5.");
}

function parseInteger(lowest: number, highest: number) {
  return (text: string): number => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= lowest && Number(text) <= highest) return Number(text);
    throw new InvalidArgumentError(`It must be an integer from ${lowest} to ${highest}.`);
  };
}

/** Accepts the American spelling too. */
function parseTaskState(text: string): string {
  const state = text === "canceled" ? "cancelled" : text;
  if (taskStates.includes(state)) return state;
  throw new InvalidArgumentError(`Allowed choices are ${taskStates.join(", ")}.`);
}

/** Reads `name[@ref]`. */
function parseRepository(text: string): { name: string; ref?: string } {
  const [, name, ref] = /^([^@]+)(?:@(.+))?$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It must be the name of a repository, or name@ref, for example web@main.");
  return { name, ...(ref !== undefined && { ref }) };
}

function parseTaskProfile(text: string): string {
  if (text === "inspect" || text === "modify") return text;
  throw new InvalidArgumentError(`It must be inspect or modify. To select a saved address: brg --profile ${text} dispatch …`);
}

function parseEventTypes(text: string): string[] {
  const types = text.split(",").map((part) => part.trim());
  const unknown = types.find((type) => !eventTypes.some((known) => known === type));
  if (unknown === undefined) return types;
  throw new InvalidArgumentError(`There is no event type "${unknown}". Types: ${eventTypes.join(", ")}.`);
}

function collect(text: string, previous: unknown): string[] {
  return [...((previous as string[] | undefined) ?? []), text];
}

function collectPairs(text: string, previous: unknown): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It must be name=value.");
  return { ...(previous as Record<string, string> | undefined), [name]: value };
}

function collectFields(text: string, previous: unknown): Record<string, unknown> {
  const [, name, value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It must be name=value.");
  return { ...(previous as Record<string, unknown> | undefined), [name]: parseJsonOrText(value) };
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
