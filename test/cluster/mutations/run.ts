import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { type PostgresCluster, startCluster } from "../../support/postgres/cluster.ts";
import { runScenario } from "../cluster-run.ts";
import { copySource } from "../copy-source.ts";
import { formatTable } from "../markdown-table.ts";
import { scenarios } from "../scenarios/index.ts";
import { type Mutation, mutations } from "./mutations.ts";
import { runTestFile } from "./run-test-file.ts";

const REPORT = path.join(import.meta.dirname, "README.md");

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seeds: { type: "string", default: "5" },
    nodes: { type: "string", default: "3" },
    lease: { type: "string", default: "3" },
    extent: { type: "string", default: "0.5" },
    verbose: { type: "boolean", default: false },
    /** Writes the table to `README.md`. */
    report: { type: "boolean", default: false },
  },
});

/** Copies the source and applies the mutation to the copy. */
function createMutant({ file, find, replace, name }: Mutation): string {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-mutant-"));
  copySource(directory);
  const source = readFileSync(path.join(directory, file), "utf8");
  if (source.split(find).length !== 2) throw new Error(`The mutation "${name}" does not apply to ${file}.`);
  writeFileSync(
    path.join(directory, file),
    source.replace(find, () => replace),
  );
  return directory;
}

/** What has caught a mutation. */
interface Finding {
  by: string;
  text: string;
}

/** Returns what the scenario or the test finds; null if it finds nothing. */
async function findFault(server: PostgresCluster, mutation: Mutation): Promise<Finding | null> {
  const root = createMutant(mutation);
  try {
    return "test" in mutation.caughtBy
      ? await runTests(root, mutation.caughtBy.test)
      : await runSeeds(server, root, mutation.caughtBy.scenario);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function runTests(root: string, file: string): Promise<Finding | null> {
  const failed = await runTestFile(root, file);
  return failed === null ? null : { by: file, text: failed };
}

/** Runs the scenario with one seed after the other until it finds a violation. */
async function runSeeds(server: PostgresCluster, root: string, name: string): Promise<Finding | null> {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`There is no scenario ${name}.`);
  for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
    const options = { nodes: Number(values.nodes), leaseSeconds: Number(values.lease), extent: Number(values.extent) };
    const violations = await runScenario({ server, scenario, seed, ...options, program: { root } }).then(
      (report) => report.violations,
      // A damaged node can also prevent a step of the scenario, such as its next start.
      (error: Error) => [`${name}: ${error.message}`],
    );
    if (values.verbose) for (const violation of violations.slice(0, 10)) console.log(`  ${violation.slice(0, 200)}`);
    if (violations[0] !== undefined) return { by: `${name}, seed ${seed}`, text: violations[0].slice(0, 160) };
  }
  return null;
}

const describeTarget = ({ caughtBy }: Mutation): string => ("test" in caughtBy ? caughtBy.test : caughtBy.scenario);

const server = await startCluster();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close().finally(() => process.exit(1)));
let missed = 0;
const rows: string[][] = [];
try {
  for (const mutation of mutations.filter(({ name }) => name.includes(values.only))) {
    const found = await findFault(server, mutation);
    if (found === null) missed += 1;
    console.log(
      `${mutation.name} (${describeTarget(mutation)}): ${found === null ? "NOT CAUGHT" : `caught by ${found.by}: ${found.text}`}`,
    );
    rows.push([mutation.name, found === null ? "not caught" : `\`${found.by}\``, found?.text ?? ""]);
  }
} finally {
  await server.close();
}
if (values.report) writeFileSync(REPORT, describeMutations());
console.log(missed === 0 ? "all mutations were caught" : `FAILED: ${missed} mutations were not caught`);
process.exitCode = missed === 0 ? 0 : 1;

function describeMutations(): string {
  return `# Mutations of the cluster test

Each mutation damages a guard of Bridge's source in one place. A scenario of the cluster test or a test file must
detect it, because a test that detects no fault proves nothing. \`npm run test:cluster:mutations -- --report\` writes
this page.

${formatTable(["mutation", "caught by", "what it found"], rows)}`;
}
