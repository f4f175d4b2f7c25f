import { type TaskErrorAdvice, taskErrors } from "bridge-client";

/** Renders the error codes of tasks with their causes and remedies as a Markdown table. */
export function renderTaskErrorsTable(): string {
  const rows = Object.entries(taskErrors).map(([code, error]) => `| \`${code}\` | ${error.cause} | ${error.advice}${renderPage(error)} |`);
  return ["| errorCode | usual cause | what to do |", "|---|---|---|", ...rows].join("\n");
}

const renderPage = ({ page }: TaskErrorAdvice): string => (page === undefined ? "" : ` [${page[0]}](${page[1]})`);
