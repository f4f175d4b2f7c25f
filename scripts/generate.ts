import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { renderEnvironmentExample, renderSettingsTable } from "./render-settings.ts";

const repository = path.resolve(import.meta.dirname, "..");

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const files = await generate();
if (values.check) process.exitCode = reportStale(files);
else for (const [name, text] of files) writeFileSync(path.join(repository, name), text);

/** Every generated file of the repository, by name, as it should be. */
async function generate(): Promise<Map<string, string>> {
  const table = renderSettingsTable();
  const generated = new Map([[".env.example", renderEnvironmentExample()]]);
  for (const name of ["README.md", "docs/operations.md"]) {
    const page = read(name);
    if (page !== null) generated.set(name, replaceSection(page, "settings", table));
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

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->`; a page without the markers stays as it is. */
function replaceSection(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  return from === -1 || to < from ? page : `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
