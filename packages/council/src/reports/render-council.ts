import type { CouncilFinding, CouncilReport } from "./council-report.ts";
import { inline, quote, renderFrontmatter, renderSection } from "./markdown.ts";

/** Renders the report of a council over several runtimes as Markdown. */
export function renderCouncil(report: CouncilReport, { scope }: { scope: string }): string {
  const { review_id, timestamp, verdict, status, bridges_available, skip_reasons, disputed_findings } = report;
  return [
    renderFrontmatter({
      type: report.type,
      review_id,
      timestamp,
      task_type: report.task_type,
      bridges: bridges_available,
      verdict,
      status,
    }),
    `# Council ${review_id}: ${verdict ?? status}`,
    `Scope: ${inline(scope)}`,
    ...(report.abort_reason === null ? [] : [report.abort_reason]),
    ...renderSection(
      "Runtimes that did not take part",
      skip_reasons.map(({ bridge, reason }) => `- **${inline(bridge)}**: ${inline(reason)}`),
    ),
    ...renderSection(
      "Confirmed by several runtimes",
      report.multi_source_confirmed.map((finding) => renderFinding(finding, finding.confirmed_by.join(", "))),
    ),
    ...renderSection(
      "Found by one runtime",
      report.single_source_findings.map((finding) => renderFinding(finding, finding.source_bridge)),
    ),
    ...renderSection(
      "Across runtimes",
      report.integration_findings.map((finding) => renderFinding(finding, "council")),
    ),
    ...renderSection(
      "Disputed",
      disputed_findings.map((finding) =>
        [renderFinding(finding, namesOf(finding).join(", ") || "council"), `Challenge:\n\n${quote(finding.unresolved_challenge)}`].join(
          "\n\n",
        ),
      ),
    ),
    ...renderSection(
      "Withdrawn",
      report.withdrawn_findings.map(({ id, title }) => `- **${id}** ${inline(title)}`),
    ),
    ...renderSection(
      "Notes",
      report.synthesis_notes.map((note) => `- ${inline(note)}`),
    ),
    "",
  ].join("\n\n");
}

const namesOf = ({ positions }: CouncilFinding): string[] => [...new Set(positions.map(({ bridge }) => bridge))];

const renderFinding = (
  { id, severity, type, status, title, description, evidence, action, domains }: CouncilFinding,
  from: string,
): string =>
  [
    `### ${id} ${severity ?? type}: ${inline(title)}`,
    `${status}, ${domains.join(", ")}, by ${inline(from)}`,
    quote(description),
    ...(evidence === null ? [] : [`Evidence:\n\n${quote(evidence)}`]),
    ...(action === null ? [] : [`Action:\n\n${quote(action)}`]),
  ].join("\n\n");
