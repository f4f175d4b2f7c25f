import { CommandError, printRecord } from "bridge-cli";
import type { DatabaseReport } from "../../store/maintenance/invariants.ts";
import { createLocalVerb, findDatabase } from "../run-local.ts";

/** Checks the database of the settings without changing it. Fails if it is damaged. */
export const run = createLocalVerb<object>(async ({ output, environment }) => {
  const report = await check(findDatabase(environment));
  const { engine, database, schemaVersion, knownSchemaVersion, epoch, counts, faults } = report;
  printRecord(output, { ...report, isDamaged: faults.length > 0 }, [
    { name: "database", value: database },
    { name: "engine", value: engine },
    { name: "schemaVersion", value: schemaVersion, shown: `${schemaVersion} (this Bridge: ${knownSchemaVersion})` },
    { name: "epoch", value: epoch },
    ...Object.entries(counts ?? {}).map(([name, value]) => ({ name, value })),
    ...faults.map((fault) => ({ name: "fault", value: fault })),
    { name: "result", value: faults.length === 0 ? "ok" : "damaged" },
  ]);
  if (faults.length === 0) return undefined;
  throw new CommandError("failed", `The database ${database} is damaged.`, { hint: await adviseOn(report) });
});

async function check({ databaseFile, databaseUrl }: ReturnType<typeof findDatabase>): Promise<DatabaseReport> {
  // Only the engine that is used is loaded.
  if (databaseUrl !== null) return (await import("../../store/maintenance/postgres-check.ts")).checkDatabase(databaseUrl);
  return (await import("../../store/maintenance/sqlite-check.ts")).checkDatabase(databaseFile);
}

async function adviseOn({ engine, database }: DatabaseReport): Promise<string> {
  if (engine === "sqlite") {
    const { remedyOf } = await import("../../store/engines/sqlite/faults.ts");
    return `${remedyOf(database)} Then find out why it was damaged: disk, memory, or another program that writes to the file.`;
  }
  return "Stop all nodes, and restore a backup: brg db restore <file> --force. Then find out why it was damaged.";
}
