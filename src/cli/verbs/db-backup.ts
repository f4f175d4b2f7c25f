import path from "node:path";
import { printRecord } from "bridge-cli";

import packageJson from "../../../package.json" with { type: "json" };
import { manifestOf } from "../../store/maintenance/backup-file.ts";
import { createLocalVerb, findDatabase } from "../run-local.ts";

/** Writes a verified backup of the database, and prints its manifest. */
export const run = createLocalVerb<object>(async ({ args: [name = ""], output, environment }) => {
  const { databaseFile, databaseUrl } = findDatabase(environment);
  const file = path.resolve(name);
  const { version } = packageJson;
  output.status.show(() => "Writing and verifying the backup …");
  const { backUpDatabase } =
    databaseUrl === null
      ? await import("../../store/maintenance/sqlite-backup.ts")
      : await import("../../store/maintenance/postgres-backup.ts");
  const manifest = await backUpDatabase(databaseUrl ?? databaseFile, file, version);
  output.status.clear();
  const { engine, createdAt, schemaVersion, epoch, counts, bytes, sha256 } = manifest;
  printRecord(output, { file, manifest: manifestOf(file), ...manifest }, [
    { name: "file", value: file },
    { name: "manifest", value: manifestOf(file) },
    { name: "engine", value: engine },
    { name: "createdAt", value: createdAt },
    { name: "schemaVersion", value: schemaVersion },
    { name: "epoch", value: epoch },
    ...Object.entries(counts).map(([count, value]) => ({ name: count, value })),
    { name: "bytes", value: bytes },
    { name: "sha256", value: sha256 },
  ]);
  output.note("The files of agents (workspaces), the settings and the tokens are not in the backup. Copy them separately.");
  return undefined;
});
