import type { CouncilFinding, CouncilReport } from "./council-report.ts";
import { frontmatter, inline, quoted, section } from "./markdown.ts";

/** The report of a council over several bridges, for people. */
export function renderCouncil(report: CouncilReport, { scope }: { scope: string }): string {
  const { review_id, timestamp, verdict, status, bridges_available, skip_reasons, disputed_findings } = report;
  return [
    frontmatter({ type: report.type, review_id, timestamp, task_type: report.task_type, bridges: bridges_available, verdict, status }),
    `# Council ${review_id}: ${verdict ?? status}`,
    `Scope: ${inline(scope)}`,
    ...(report.abort_reason === null ? [] : [report.abort_reason]),
    ...section(
      "Bridges that did not take part",
      skip_reasons.map(({ bridge, reason }) => `- **${inline(bridge)}**: ${inline(reason)}`),
    ),
    ...section(
      "Confirmed by several bridges",
      report.multi_source_confirmed.map((finding) => renderFinding(finding, finding.confirmed_by.join(", "))),
    ),
    ...section(
      "Found by one bridge",
      report.single_source_findings.map((finding) => renderFinding(finding, finding.source_bridge)),
    ),
    ...section(
      "Across bridges",
      report.integration_findings.map((finding) => renderFinding(finding, "council")),
    ),
    ...section(
      "Disputed",
      disputed_findings.map(({ id, title, unresolved_challenge }) => `- **${id}** ${inline(title)}: ${inline(unresolved_challenge)}`),
    ),
    ...section(
      "Withdrawn",
      report.withdrawn_findings.map(({ id, title }) => `- **${id}** ${inline(title)}`),
    ),
    "",
  ].join("\n\n");
}

const renderFinding = (
  { id, severity, type, status, title, description, evidence, action, domains }: CouncilFinding,
  from: string,
): string =>
  [
    `### ${id} ${severity ?? type}: ${inline(title)}`,
    `${status}, ${domains.join(", ")}, by ${inline(from)}`,
    quoted(description),
    ...(evidence === null ? [] : [`Evidence:\n\n${quoted(evidence)}`]),
    ...(action === null ? [] : [`Action:\n\n${quoted(action)}`]),
  ].join("\n\n");
