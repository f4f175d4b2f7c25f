import { createMetrics } from "../src/metrics.ts";

/** Renders Bridge's own metrics as a Markdown table, in the order of `src/metrics.ts`. */
export function renderMetricsTable(): string {
  const metrics = createMetrics("0.0.0").registry.getMetricsAsArray() as unknown as { name: string; help: string; labelNames: string[] }[];
  const rows = metrics.map(
    ({ name, help, labelNames }) => `| \`${name}\` | ${labelNames.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  return ["| metric | labels | description |", "|---|---|---|", ...rows].join("\n");
}
