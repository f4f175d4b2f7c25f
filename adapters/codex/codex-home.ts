import path from "node:path";
import { type HeldDirectory, makeDirectoryInside, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import { fixedConfiguration } from "./configuration.ts";
import { toToml } from "./toml.ts";

/**
 * Session modes over ACP, which define where commands may write. The built-in modes ask for approval and end the task at the first
 * rejection.
 */
export const modes = { inspect: "permission-profile:bridge-inspect", modify: "permission-profile:bridge-modify" } as const;

const acpConfiguration = {
  ...fixedConfiguration,
  default_permissions: "bridge-inspect",
  permissions: {
    "bridge-inspect": { extends: ":read-only" },
    "bridge-modify": { extends: ":workspace", filesystem: { ":slash_tmp": "read" } },
  },
};

/** Directory of Codex in an agent's home. A task can replace it with a link, which Bridge removes. */
const CODEX_DIRECTORY = ".codex";

/**
 * Creates the directory CODEX_HOME, without which Codex does not start, and returns the variable. Changes nothing in the operator's home.
 */
export async function makeHome(task: Pick<ProgramTask, "request" | "context">): Promise<Record<string, string>> {
  using home = await openHome(task);
  return home === null ? {} : createHomeVariable(task);
}

/**
 * Creates CODEX_HOME with the settings that Codex reads only from a file, and returns the variable. Concurrent tasks may share one home.
 */
export async function makeHomeWithSettings(task: Pick<ProgramTask, "request" | "context">): Promise<Record<string, string>> {
  using home = await openHome(task);
  if (home === null) return {};
  // Rules can allow commands outside the sandbox, and codex-acp has no flag to ignore them.
  await removeInside(home, "rules");
  const lines = Object.entries(acpConfiguration).map(([key, value]) => `${key} = ${toToml(value)}\n`);
  await writeFileInside(home, "config.toml", lines.join(""), { obstacles: "remove" });
  return createHomeVariable(task);
}

async function openHome({ request, context }: Pick<ProgramTask, "request" | "context">): Promise<HeldDirectory | null> {
  if (context.settings.home === "user") return null;
  return await makeDirectoryInside(request.directories.home, [CODEX_DIRECTORY], { obstacles: "remove" });
}

const createHomeVariable = ({ request }: Pick<ProgramTask, "request">): Record<string, string> => ({
  CODEX_HOME: path.join(request.directories.home, CODEX_DIRECTORY),
});
