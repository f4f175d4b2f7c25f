import { parseArgs } from "node:util";
import { type Engine, openPostgresDatabase, openSqliteDatabase, sabotages } from "./crash-database.ts";
import { runCrashTest } from "./crash-run.ts";

const SHOWN_VIOLATIONS = 20;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "200" },
    seed: { type: "string", default: String(Math.trunc(Date.now() / 1000)) },
    database: { type: "string", default: "sqlite" },
    sabotage: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed))
  throw new Error("--rounds and --seed must be integers, and --rounds at least 1.");
const database = values.database as Engine;
if (!(database in sabotages)) throw new Error(`--database must be one of ${Object.keys(sabotages).join(", ")}.`);
const sabotage = values.sabotage as never;
if (sabotage !== undefined && !sabotages[database].includes(sabotage))
  throw new Error(`--sabotage must be one of ${sabotages[database].join(", ")}.`);

console.log(
  `crash test: ${database}, ${rounds} rounds, seed ${seed}${sabotage === undefined ? "" : `, durability disabled (${sabotage})`}`,
);
const startedAt = performance.now();
const { violations, figures } = await runCrashTest({
  rounds,
  seed,
  openDatabase: (file) => (database === "sqlite" ? openSqliteDatabase(file, sabotage) : openPostgresDatabase(sabotage)),
  ...(values.verbose && { onRound: (line) => console.log(line) }),
});
console.log(figures);
for (const violation of violations.slice(0, SHOWN_VIOLATIONS)) console.log(`VIOLATION ${violation}`);
if (violations.length > SHOWN_VIOLATIONS) console.log(`… and ${violations.length - SHOWN_VIOLATIONS} more`);
console.log(
  `${violations.length === 0 ? "passed" : "FAILED"}: ${violations.length} violations in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
);
process.exitCode = violations.length === 0 ? 0 : 1;
