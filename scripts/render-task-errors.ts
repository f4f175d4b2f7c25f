import { type TaskErrorAdvice, taskErrors } from "bridge-client";

/** Pages that explain more about an error. */
const pages: Readonly<Record<string, readonly [title: string, path: string]>> = {
  adapter_offline: ["Nodes", "operations.md#nodes"],
  authentication_required: ["Keys and logins", "agent-programs.md"],
  user_action_required: ["Agent programs", "agent-programs.md"],
  output_limit: ["Limits", "security.md#limits"],
};

/** Renders the error codes of tasks with their causes and remedies as a Markdown table. */
export function renderTaskErrorsTable(): string {
  const rows = Object.entries(taskErrors).map(([code, error]) => renderRow(code, error));
  return ["| errorCode | usual cause | what to do |", "|---|---|---|", ...rows].join("\n");
}

function renderRow(code: string, { cause, advice }: TaskErrorAdvice): string {
  const page = pages[code];
  return `| \`${code}\` | ${cause} | ${advice}${page === undefined ? "" : ` [${page[0]}](${page[1]})`} |`;
}
