import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { listAllSettings } from "../src/app/load-config.ts";
import { renderMetricsTable } from "./render-metrics.ts";
import { renderOpenapi } from "./render-openapi.ts";
import { renderEnvironmentExample, renderSettingsTable } from "./render-settings.ts";
import { replaceSection } from "./replace-section.ts";

const repository = path.resolve(import.meta.dirname, "..");

/** Pages with generated sections: what stands between `<!-- name -->` and `<!-- /name -->`. */
const pages: Record<string, Record<string, () => string>> = {
  "README.md": { receiver: () => codeBlock("examples/receiver/receiver.js"), settings: () => renderSettingsTable(allSettings) },
  "docs/operations.md": { settings: () => renderSettingsTable(allSettings), metrics: renderMetricsTable },
  "docs/websocket.md": { "open-bridge": () => codeBlock("examples/browser/open-bridge.js") },
  "docs/events.md": { "follow-events": () => codeBlock("examples/browser/follow-events.js") },
};

const allSettings = listAllSettings();
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const files = await generate();
if (values.check) process.exitCode = reportStale(files);
else for (const [name, text] of files) writeFileSync(path.join(repository, name), text);

/** Every generated file of the repository, by name, as it should be. */
async function generate(): Promise<Map<string, string>> {
  const generated = new Map([
    [".env.example", renderEnvironmentExample(allSettings)],
    ["openapi.yaml", await renderOpenapi()],
  ]);
  for (const [name, sections] of Object.entries(pages)) {
    const page = read(name);
    if (page === null) continue;
    generated.set(
      name,
      Object.entries(sections).reduce((text, [section, render]) => replaceSection(text, section, render()), page),
    );
  }
  return generated;
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

function codeBlock(name: string): string {
  return `\`\`\`js\n${readFileSync(path.join(repository, name), "utf8")}\`\`\``;
}
