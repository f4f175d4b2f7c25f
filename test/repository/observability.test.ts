import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { createMetrics } from "../../src/metrics.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(repository, name), "utf8");

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { runbook_url: string };
}
const alerts = (parse(read("deploy/observability/alerts.yml")) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules);
const metrics = createMetrics("0.0.0").registry.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[];
/** The names of all series: a histogram has three kinds of them. */
const seriesNames = new Set(
  metrics.flatMap(({ name, type }) => (type === "histogram" ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])),
);
const metricsIn = (text: string): string[] => [...text.matchAll(/\b(?:bridge|process)_[a-z_]+[a-z]\b/g)].map(([name]) => name);

/** Names with the prefix of a metric that pages may mention. */
const otherNames = new Set(["bridge_restarted", "bridge_shutdown", "bridge_reports", "bridge_input"]);

test("the alerts, the dashboard and the pages name only metrics that exist", () => {
  const pages = readdirSync(path.join(repository, "docs"), { recursive: true })
    .map((name) => path.join("docs", String(name)))
    .filter((name) => name.endsWith(".md"));
  const files = [...pages, "deploy/README.md", "deploy/observability/alerts.yml", "deploy/observability/grafana/bridge.json"];
  const unknown = files.flatMap((name) =>
    metricsIn(read(name))
      .filter((metric) => !seriesNames.has(metric) && !otherNames.has(metric))
      .map((metric) => `${name}: ${metric}`),
  );
  expect(unknown).toEqual([]);
});

test("the alerts and the unit tests of the alerts name the same alerts", () => {
  const tested = [...read("test/deploy/alerts.test.yml").matchAll(/alertname(?:: |=")(\w+)/g)].map(([, name]) => name);
  expect([...new Set(tested)].toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test("each alert has a severity and a section of the runbook, which contains its condition", () => {
  const page = read("docs/runbook.md");
  const sections = new Map(page.split(/^### /m).map((section) => [section.slice(0, section.indexOf("\n")), section]));
  for (const { alert, labels, annotations } of alerts) {
    expect(["critical", "warning"]).toContain(labels.severity);
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const section = sections.get(alert) ?? "";
    for (const part of ["**Symptom.**", "**Meaning.**", "**What to do.**"]) expect(`${alert}: ${section}`).toContain(part);
    for (const metric of metricsIn(alerts.find((one) => one.alert === alert)?.expr ?? "").map((name) =>
      name.replace(/_(bucket|count)$/, ""),
    ))
      if (metric !== "up") expect(`${alert}: ${section}`).toContain(metric);
  }
});

test("the compose file mounts existing files at the paths that the configuration names", () => {
  const { services, secrets } = parse(read("deploy/observability/compose.yml")) as {
    services: Record<string, { volumes: string[] }>;
    secrets: Record<string, unknown>;
  };
  const mounts = Object.values(services)
    .flatMap(({ volumes }) => volumes)
    .map((mount) => /^\$\{OBSERVABILITY_DIR:-\.\/(deploy\/observability)\}(\/\S+?):(\/\S+?):ro$/.exec(mount))
    .flatMap((match) => (match === null ? [] : [{ file: `${match[1]}${match[2]}`, at: match[3] as string }]));
  expect(mounts.length).toBe(6);
  expect(mounts.filter(({ file }) => !existsSync(path.join(repository, file)))).toEqual([]);
  const config = parse(read("deploy/observability/prometheus.yml")) as {
    rule_files: string[];
    scrape_configs: { authorization: { credentials_file: string }; file_sd_configs: { files: string[] }[] }[];
  };
  const [scrape] = config.scrape_configs;
  const named = [...config.rule_files, ...(scrape?.file_sd_configs[0]?.files ?? [])];
  expect(named.filter((file) => !mounts.some(({ at }) => at === file))).toEqual([]);
  expect(Object.keys(secrets).map((name) => `/run/secrets/${name}`)).toEqual([scrape?.authorization.credentials_file]);
});

test("every panel of the dashboard has a description and queries the metrics of the chosen Bridges", () => {
  const { panels } = JSON.parse(read("deploy/observability/grafana/bridge.json")) as {
    panels: { type: string; title: string; description?: string; targets: { expr: string }[] }[];
  };
  for (const { title, description, targets } of panels.filter(({ type }) => type !== "row")) {
    expect(`${title}: ${description ?? ""}`).toMatch(/: .+\.$/);
    for (const { expr } of targets) expect(`${title}: ${expr}`).toContain('instance=~"$instance"');
  }
});
