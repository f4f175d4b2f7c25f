import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { type PostgresCluster, startCluster } from "../../support/postgres/cluster.ts";
import { runScenario } from "../cluster-run.ts";
import { scenarios } from "../scenarios/index.ts";
import { type Mutation, mutations } from "./mutations.ts";

const repository = path.resolve(import.meta.dirname, "../../..");
/** What Bridge needs to run. */
const COPIED = ["src", "adapters", "packages", "migrations", "package.json"];

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seeds: { type: "string", default: "5" },
    nodes: { type: "string", default: "3" },
    lease: { type: "string", default: "3" },
    extent: { type: "string", default: "0.5" },
    verbose: { type: "boolean", default: false },
  },
});

/** Copies the source and applies the mutation to the copy. */
function createMutant({ file, find, replace, name }: Mutation): string {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-mutant-"));
  for (const entry of COPIED) cpSync(path.join(repository, entry), path.join(directory, entry), { recursive: true });
  symlinkSync(path.join(repository, "node_modules"), path.join(directory, "node_modules"));
  const source = readFileSync(path.join(directory, file), "utf8");
  if (source.split(find).length !== 2) throw new Error(`The mutation "${name}" does not apply to ${file}.`);
  writeFileSync(
    path.join(directory, file),
    source.replace(find, () => replace),
  );
  return directory;
}

/** Returns the first violation that the scenario finds, and the seed; null if it finds none. */
async function findViolation(server: PostgresCluster, mutation: Mutation): Promise<{ seed: number; violation: string } | null> {
  const scenario = scenarios.find(({ name }) => name === mutation.scenario);
  if (scenario === undefined) throw new Error(`There is no scenario ${mutation.scenario}.`);
  const root = createMutant(mutation);
  try {
    for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
      const options = { nodes: Number(values.nodes), leaseSeconds: Number(values.lease), extent: Number(values.extent) };
      const { violations } = await runScenario({ server, scenario, seed, ...options, program: { root } });
      if (values.verbose) for (const violation of violations.slice(0, 10)) console.log(`  ${violation.slice(0, 200)}`);
      if (violations[0] !== undefined) return { seed, violation: violations[0] };
    }
    return null;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const server = await startCluster();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close().finally(() => process.exit(1)));
let missed = 0;
try {
  for (const mutation of mutations.filter(({ name }) => name.includes(values.only))) {
    const found = await findViolation(server, mutation);
    if (found === null) missed += 1;
    const outcome = found === null ? "NOT CAUGHT" : `caught with seed ${found.seed}: ${found.violation.slice(0, 160)}`;
    console.log(`${mutation.name} (${mutation.scenario}): ${outcome}`);
  }
} finally {
  await server.close();
}
console.log(missed === 0 ? "all mutations were caught" : `FAILED: ${missed} mutations were not caught`);
process.exitCode = missed === 0 ? 0 : 1;
