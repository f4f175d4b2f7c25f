import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { replaceSection } from "../../scripts/replace-section.ts";
import { renderCommands } from "./shell/render.ts";
import { readShellResults } from "./shell/results.ts";
import { renderCancelTimes, renderTable } from "./table/render.ts";
import { readResults } from "./table/results.ts";

const usage = `Usage: node test/runtimes/report.ts [--update]

Compares the tables of the last run with the published ones in docs/runtimes.md and docs/shell-commands.md.

  --update   publish the tables of the last run, and its measured times
`;

const repository = path.resolve(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { update: { type: "boolean", default: false }, help: { type: "boolean", short: "h" } } });
if (values.help === true) process.stdout.write(usage);
else process.exitCode = report();

function report(): number {
  if (existsSync(path.join(import.meta.dirname, ".results/sample"))) {
    process.stdout.write("A part of the suite has run, so its tables are not compared. All of it: npm run test:runtimes -- --all\n");
    return values.update ? 1 : 0;
  }
  const results = readResults();
  const shellResults = readShellResults();
  if (results.length === 0 || shellResults.length === 0) {
    process.stderr.write("A table is missing: npm run test:runtimes plays the cells of both.\n");
    return 1;
  }
  const table = renderTable(results);
  const commands = renderCommands(shellResults);
  const times = renderCancelTimes(results);
  process.stdout.write(`${table}\n\n${commands}\n\n${times}\n`);
  const stale = ["docs/runtimes.md", "docs/shell-commands.md"].filter((page) => {
    const file = path.join(repository, page);
    const text = readFileSync(file, "utf8");
    const withTable = replaceSection(replaceSection(text, "runtimes", table), "shell-commands", commands);
    if (withTable !== text && !values.update) return true;
    // Times differ between runs, so they are published and not compared.
    if (values.update) writeFileSync(file, replaceSection(withTable, "cancel-times", times));
    return false;
  });
  if (stale.length === 0) return 0;
  process.stderr.write(
    `\nA table of this run is not the published one (${stale.join(", ")}). If that is meant: node test/runtimes/report.ts --update\n`,
  );
  return 1;
}
