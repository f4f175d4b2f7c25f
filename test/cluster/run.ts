import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { startCluster } from "../support/postgres/cluster.ts";
import { runScenario } from "./cluster-run.ts";
import { formatTable } from "./markdown-table.ts";
import { scenarios } from "./scenarios/index.ts";

const SHOWN_VIOLATIONS = 20;
const REPORT = path.join(import.meta.dirname, "README.md");

const { values } = parseArgs({
  options: {
    scenario: { type: "string", default: "all" },
    seeds: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    nodes: { type: "string", default: "3" },
    lease: { type: "string", default: "3" },
    extent: { type: "string", default: "1" },
    verbose: { type: "boolean", default: false },
    /** Writes the rows of these scenarios to the table in `README.md`. */
    report: { type: "boolean", default: false },
  },
});
const names = values.scenario.split(",");
const chosen = values.scenario === "all" ? scenarios : scenarios.filter(({ name }) => names.includes(name));
if (chosen.length === 0) throw new Error(`--scenario must be all, or names of ${scenarios.map(({ name }) => name).join(", ")}.`);
const [seeds, firstSeed, nodes, leaseSeconds] = [values.seeds, values.seed, values.nodes, values.lease].map(Number);
if (![seeds, firstSeed, nodes, leaseSeconds].every(Number.isInteger))
  throw new Error("--seeds, --seed, --nodes and --lease must be integers.");

const server = await startCluster();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close().finally(() => process.exit(1)));
let failed = 0;
const columns = ["tasks", "faults", "events", "callbacks", "completedPercent", "moves", "seconds", "violations"];
const reported = ["tasks", "faults", "events", "callbacks", "violations"];
const rows: string[][] = [];
console.log(["scenario".padEnd(28), "seed".padStart(5), ...columns.map((column) => column.padStart(10))].join(" "));
try {
  for (const scenario of chosen) {
    for (let seed = firstSeed as number; seed < (firstSeed as number) + (seeds as number); seed += 1) {
      const startedAt = performance.now();
      const { violations, figures } = await runScenario({
        server,
        scenario,
        seed,
        nodes: nodes as number,
        leaseSeconds: leaseSeconds as number,
        extent: Number(values.extent),
        ...(values.verbose && {
          onStep: (step: string) => console.log(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${step}`),
        }),
      });
      const seconds = (performance.now() - startedAt) / 1000;
      const faults = Object.entries(figures).reduce((sum, [name, value]) => sum + (/^(faults|kills|drains)/.test(name) ? value : 0), 0);
      const row: Record<string, number> = { ...figures, faults, seconds: Math.round(seconds), violations: violations.length };
      const cells = columns.map((column) => String(row[column] ?? 0).padStart(10));
      console.log([scenario.name.padEnd(28), String(seed).padStart(5), ...cells].join(" "));
      rows.push([`\`${scenario.name}\``, String(seed), ...reported.map((column) => String(row[column] ?? 0))]);
      if (values.verbose) console.log(figures);
      for (const violation of violations.slice(0, SHOWN_VIOLATIONS)) console.log(`  VIOLATION ${violation}`);
      if (violations.length > SHOWN_VIOLATIONS) console.log(`  … and ${violations.length - SHOWN_VIOLATIONS} more`);
      if (violations.length > 0) failed += 1;
    }
  }
} finally {
  await server.close();
}
if (values.report) writeFileSync(REPORT, describeRuns());
console.log(failed === 0 ? "passed" : `FAILED: ${failed} runs with violations`);
process.exitCode = failed === 0 ? 0 : 1;

/** Returns the rows of the other scenarios in the table of an earlier run. */
function readOtherRows(): string[][] {
  const lines = existsSync(REPORT) ? readFileSync(REPORT, "utf8").split("\n") : [];
  const cells = lines.filter((line) => line.startsWith("| `")).map((line) => line.split("|").slice(1, -1));
  return cells.map((row) => row.map((cell) => cell.trim())).filter(([name]) => !chosen.some((scenario) => `\`${scenario.name}\`` === name));
}

function describeRuns(): string {
  const position = ([name]: string[]): number => scenarios.findIndex((scenario) => `\`${scenario.name}\`` === name);
  const all = [...readOtherRows(), ...rows].toSorted((a, b) => position(a) - position(b));
  const header = ["scenario", "seed", "tasks", "faults", "events", "callbacks", "violations"];
  return `# Cluster test

Several nodes run on one PostgreSQL server under load, while a scenario happens to them. Afterwards the test checks
everything that clients, receivers, agents and the database have seen against Bridge's guarantees: a violation is one
broken guarantee. \`faults\` counts the kills, restarts, cuts, pauses and crashes.

\`npm run test:cluster -- --seeds ${seeds} --seed ${firstSeed} --nodes ${nodes} --extent ${values.extent} --report\` writes
this page. With \`--scenario\`, it replaces only the rows of the named scenarios.

${formatTable(header, all)}`;
}
