import path from "node:path";
import { parseArgs } from "node:util";
import { writeWorkspace } from "./write-workspace.ts";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { into: { type: "string" } } });
if (positionals.length === 0) throw new Error("Usage: build-workspace.ts <directory below packages/> … [--into <directory>]");

// Builds each package as it is published: into its own dist/, or with --into below that directory.
for (const workspace of positionals) {
  const { into } = values;
  await writeWorkspace(
    workspace,
    into === undefined ? path.join(import.meta.dirname, "../packages", workspace, "dist") : path.resolve(into, workspace),
  );
}
