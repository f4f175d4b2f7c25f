import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { listAllSettings } from "../src/app/load-config.ts";
import { renderDomainsTable } from "./render-domains.ts";
import { renderMetricsTable } from "./render-metrics.ts";
import { renderOpenapi } from "./render-openapi.ts";
import { renderRoutes } from "./render-routes.ts";
import { renderEnvironmentExample, renderSettingsTable } from "./render-settings.ts";
import { renderTaskErrorsTable } from "./render-task-errors.ts";
import { replaceSection } from "./replace-section.ts";

const repository = path.resolve(import.meta.dirname, "..");

/**
 * Pages with generated sections. A section is the text between `<!-- name -->` and `<!-- /name -->`. Its function receives the text of
 * `openapi.yaml`.
 */
const pages: Record<string, Record<string, (openapi: string) => string>> = {
  "docs/settings.md": { settings: () => renderSettingsTable(allSettings) },
  "docs/routes.md": { routes: renderRoutes },
  "docs/metrics.md": { metrics: renderMetricsTable },
  "docs/adapters.md": { "echo-adapter-test": () => renderCodeBlock("examples/adapter/echo-adapter.test.js") },
  "docs/build-a-dashboard.md": {
    "dashboard-server": () => renderCodeBlock("examples/dashboard/server.js"),
    "dashboard-page": () => renderCodeBlock("examples/dashboard/index.html"),
  },
  "docs/callbacks.md": { receiver: () => renderCodeBlock("examples/receiver/receiver.js") },
  "docs/council.md": { domains: renderDomainsTable },
  "docs/events.md": { "follow-events": () => renderCodeBlock("examples/browser/follow-events.js") },
  "docs/troubleshooting.md": { "task-errors": renderTaskErrorsTable },
  "docs/websocket.md": { companion: () => renderCodeBlock("examples/companion/companion.js") },
};

const allSettings = listAllSettings();
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const files = await generate();
if (values.check) process.exitCode = reportStale(files);
else writeFiles(files);

/** Returns the expected text of every generated file, by its name. */
async function generate(): Promise<Map<string, string>> {
  const openapi = await renderOpenapi();
  const generated = new Map([
    [".env.example", renderEnvironmentExample(allSettings)],
    ["openapi.yaml", openapi],
  ]);
  for (const [name, sections] of Object.entries(pages)) {
    const page = read(name);
    if (page === null) continue;
    generated.set(
      name,
      Object.entries(sections).reduce((text, [section, render]) => replaceSection(text, section, render(openapi)), page),
    );
  }
  return generated;
}

function writeFiles(files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) {
    writeFileSync(path.join(repository, name), text);
  }
}

function reportStale(files: ReadonlyMap<string, string>): number {
  const stale = [...files].filter(([name, text]) => read(name) !== text).map(([name]) => name);
  if (stale.length === 0) return 0;
  console.error(`Out of date: ${stale.join(", ")}. Run: npm run generate`);
  return 1;
}

function read(name: string): string | null {
  const file = path.join(repository, name);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

function renderCodeBlock(name: string): string {
  return `\`\`\`${path.extname(name).slice(1)}\n${readFileSync(path.join(repository, name), "utf8")}\`\`\``;
}
