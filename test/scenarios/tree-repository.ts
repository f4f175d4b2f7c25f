import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { commit, git } from "../repositories/open-repositories.ts";

/** A command for the command adapter that runs the message of a task as a shell script, and returns a resume token. */
const runMessage = `read -r request
eval "$(printf %s "$request" | sed 's/.*"message":"\\([^"]*\\)".*/\\1/')" && echo '{"type":"result","status":"ok","output":"done","resumeToken":"session"}'`;

/** Creates a repository with the file `notes.txt`. Returns its head, and the settings of a Bridge whose repository `web` it is. */
export function createTreeSettings(directory: string, fields: Record<string, unknown> = {}) {
  const source = path.join(directory, "source");
  mkdirSync(source);
  git(source, "init", "--quiet", "--initial-branch=main");
  const head = commit(source, { "notes.txt": "first\n" }, "Begin");
  const file = path.join(directory, "repositories.json");
  writeFileSync(file, JSON.stringify([{ name: "web", source, ...fields }]));
  const settings = {
    BRIDGE_ADAPTERS: `command,${path.join(import.meta.dirname, "tree-adapter.ts")}`,
    BRIDGE_COMMAND: JSON.stringify(["/bin/sh", "-c", runMessage]),
    BRIDGE_REPOSITORIES_FILE: file,
  };
  return { source, head, settings };
}

/** The names of the work trees below a data directory. */
export function listTrees(dataDir: string): string[] {
  try {
    return readdirSync(path.join(dataDir, "trees"));
  } catch {
    return [];
  }
}
