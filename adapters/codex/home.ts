import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ProgramTask } from "../program/agent-program.ts";
import { fixedConfiguration } from "./configuration.ts";
import { toToml } from "./toml.ts";

/** The modes of a session over ACP: what commands may write. Codex's own modes would ask, and end the task at the first refusal. */
export const modes = { inspect: "permission-profile:bridge-inspect", modify: "permission-profile:bridge-modify" } as const;

const acpConfiguration = {
  ...fixedConfiguration,
  default_permissions: "bridge-inspect",
  permissions: {
    "bridge-inspect": { extends: ":read-only" },
    "bridge-modify": { extends: ":workspace", filesystem: { ":slash_tmp": "read" } },
  },
};

/** Makes the home of Codex, which does not start without one. The operator's own is left as it is. */
export async function makeHome({ request, context }: Pick<ProgramTask, "request" | "context">): Promise<Record<string, string>> {
  if (context.settings.home === "user") return {};
  const home = path.join(request.directories.home, ".codex");
  await mkdir(home, { recursive: true, mode: 0o700 });
  return { CODEX_HOME: home };
}

/** Writes the settings that Codex takes from its home alone; tasks of one home may do so at the same time. */
export async function writeSettings(home: string): Promise<void> {
  // Rules let commands out of the sandbox, and here no flag leaves them aside.
  await rm(path.join(home, "rules"), { recursive: true, force: true });
  const file = path.join(home, "config.toml");
  const draft = `${file}.${randomUUID()}`;
  const lines = Object.entries(acpConfiguration).map(([key, value]) => `${key} = ${toToml(value)}\n`);
  await writeFile(draft, lines.join(""), { mode: 0o600 });
  await rename(draft, file);
}
