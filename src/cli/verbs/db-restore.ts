import path from "node:path";
import { printRecord } from "bridge-cli";
import { createLocalVerb, findDatabase } from "../run-local.ts";

interface Options {
  force?: boolean;
  withoutManifest?: boolean;
}

/** Replaces the database by a backup, and prints the new epoch. */
export const run = createLocalVerb<Options>(async ({ args: [name = ""], options, output, environment }) => {
  const { databaseFile, databaseUrl } = findDatabase(environment);
  const file = path.resolve(name);
  output.status.show(() => "Verifying and restoring the backup …");
  const { restoreDatabase } =
    databaseUrl === null
      ? await import("../../store/maintenance/sqlite-restore.ts")
      : await import("../../store/maintenance/postgres-restore.ts");
  const { force: isForced = false, withoutManifest = false } = options;
  const restored = await restoreDatabase(databaseUrl ?? databaseFile, file, { isForced, hasManifest: !withoutManifest });
  output.status.clear();
  const { createdAt, schemaVersion, counts, epoch, replaced, replacedTasks } = restored;
  printRecord(output, { file, ...restored }, [
    { name: "file", value: file },
    { name: "createdAt", value: createdAt },
    { name: "schemaVersion", value: schemaVersion },
    { name: "epoch", value: epoch },
    ...Object.entries(counts).map(([count, value]) => ({ name: count, value })),
    { name: "replaced", value: replaced },
    { name: "replacedTasks", value: replacedTasks },
  ]);
  output.note(
    [
      "Event ids have a new epoch: readers with an older id get stream.gap. Callbacks that were delivered after the backup are posted again.",
      "The files of agents (workspaces) are not in the backup. Restore your copy of them before you start Bridge.",
    ].join("\n"),
  );
  return undefined;
});
