import { type Output, rankSeverity } from "../types.ts";
import { inline, quote, renderFrontmatter, renderSection } from "./markdown.ts";
import type { PanelReport, RoleRecord } from "./report.ts";

/** Renders the report of a council on one runtime as Markdown. */
export function renderReport(report: PanelReport, { scope, timestamp }: { scope: string; timestamp: string }): string {
  const { bridge, session_id, task_type, verdict, status, domains_covered, disputed_outputs, withdrawn_outputs, notes } = report;
  const lost = report.roles.filter(({ answered }) => !answered);
  return [
    renderFrontmatter({ bridge, session_id, timestamp, task_type, domains: domains_covered, verdict, status }),
    `# ${bridge}: ${verdict ?? status}`,
    `Scope: ${inline(scope)}`,
    ...[report.skip_reason, report.halt_reason, report.halt_message].flatMap((reason) => (reason === null ? [] : [inline(reason)])),
    ...renderSection("Outputs", sortBySeverity(report.outputs).map(renderOutput)),
    ...renderSection(
      "Disputed",
      disputed_outputs.map(({ output, unresolved_challenge }) => `- **${output.id}**: ${inline(unresolved_challenge)}`),
    ),
    ...renderSection(
      "Withdrawn",
      withdrawn_outputs.map(({ id, title }) => `- **${id}** ${inline(title)}`),
    ),
    ...renderSection(
      "Summaries",
      selectLatestSummaries(report).map(({ role, domain, summary }) => `- **${inline(role)}** (${domain}): ${inline(summary ?? "")}`),
    ),
    ...renderSection(
      "Roles without an answer",
      lost.map(({ round, role, domain, reason }) => `- round ${round}, ${role} (${domain}): ${inline(reason ?? "")}`),
    ),
    ...renderSection(
      "Notes",
      notes.map((note) => `- ${inline(note)}`),
    ),
    "",
  ].join("\n\n");
}

/** Returns the outputs, the most severe first. */
const sortBySeverity = (outputs: readonly Output[]): Output[] =>
  outputs.toSorted((one, other) => rankSeverity(one.severity) - rankSeverity(other.severity));

/** Returns the last summary of each role. */
const selectLatestSummaries = ({ roles }: PanelReport): RoleRecord[] => [
  ...new Map(
    roles.filter(({ summary }) => summary !== null).map((record) => [JSON.stringify([record.role, record.domain]), record] as const),
  ).values(),
];

const renderOutput = ({ id, severity, type, status, title, description, evidence, action, domain, agent }: Output): string =>
  [
    `### ${id} ${severity ?? type}: ${inline(title)}`,
    `${status}, ${domain}, ${inline(agent)}`,
    quote(description),
    ...(evidence === null ? [] : [`Evidence:\n\n${quote(evidence)}`]),
    ...(action === null ? [] : [`Action:\n\n${quote(action)}`]),
  ].join("\n\n");
