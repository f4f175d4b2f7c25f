import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";

/** The directory of the deployment files for monitoring. */
export const observability = path.resolve(import.meta.dirname, "../../deploy/observability");

/** A panel of the dashboard, with its queries. */
interface Panel {
  type: string;
  title: string;
  description?: string;
  targets?: { expr: string; legendFormat: string }[];
}

/** Reads the dashboard of Grafana. */
export const readDashboard = () =>
  JSON.parse(readFileSync(path.join(observability, "grafana/bridge.json"), "utf8")) as {
    panels: Panel[];
    annotations: { list: { expr: string }[] };
  };

/** Replaces a text that occurs once, so that the test fails if the file in `deploy/` no longer contains it. */
function replaceOnce(text: string, from: string, to: string): string {
  expect(text.split(from)).toHaveLength(2);
  return text.replace(from, () => to);
}

/**
 * Writes the configuration of Prometheus into a directory that contains the file `token`. Replaces only paths, targets and the interval.
 */
export async function configurePrometheus(
  directory: string,
  { targets, scrapeInterval }: { targets: readonly string[]; scrapeInterval: string },
): Promise<{ config: string }> {
  const config = path.join(directory, "prometheus.yml");
  let text = readFileSync(path.join(observability, "prometheus.yml"), "utf8");
  text = replaceOnce(text, "/etc/prometheus/alerts.yml", path.join(observability, "alerts.yml"));
  text = replaceOnce(text, "/run/secrets/bridge-token", path.join(directory, "token"));
  text = replaceOnce(text, "/etc/prometheus/targets.yml", path.join(directory, "targets.yml"));
  text = replaceOnce(text, "scrape_interval: 15s", `scrape_interval: ${scrapeInterval}`);
  text = replaceOnce(text, "evaluation_interval: 15s", `evaluation_interval: ${scrapeInterval}`);
  await writeFile(config, text);
  const listed = replaceOnce(
    readFileSync(path.join(observability, "targets.yml"), "utf8"),
    "targets: [bridge:8787]",
    `targets: ${JSON.stringify(targets)}`,
  );
  await writeFile(path.join(directory, "targets.yml"), listed);
  return { config };
}
