import path from "node:path";
import { type HeldDirectory, makeDirectoryInside, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
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

/** The directory of Codex in an agent's home. A task can replace it by a link, which Bridge removes. */
const CODEX_DIRECTORY = ".codex";

/** Makes the home of Codex, which does not start without one. The operator's own is left as it is. */
export async function makeHome(task: Pick<ProgramTask, "request" | "context">): Promise<Record<string, string>> {
  using home = await openHome(task);
  return home === null ? {} : environmentOf(task);
}

/** Makes the home of Codex with the settings that Codex reads from its home alone. Tasks of one home may do so at the same time. */
export async function makeHomeWithSettings(task: Pick<ProgramTask, "request" | "context">): Promise<Record<string, string>> {
  using home = await openHome(task);
  if (home === null) return {};
  // Rules let commands out of the sandbox, and here no flag leaves them aside.
  await removeInside(home, "rules");
  const lines = Object.entries(acpConfiguration).map(([key, value]) => `${key} = ${toToml(value)}\n`);
  await writeFileInside(home, "config.toml", lines.join(""), { obstacles: "remove" });
  return environmentOf(task);
}

async function openHome({ request, context }: Pick<ProgramTask, "request" | "context">): Promise<HeldDirectory | null> {
  if (context.settings.home === "user") return null;
  return await makeDirectoryInside(request.directories.home, [CODEX_DIRECTORY], { obstacles: "remove" });
}

const environmentOf = ({ request }: Pick<ProgramTask, "request">): Record<string, string> => ({
  CODEX_HOME: path.join(request.directories.home, CODEX_DIRECTORY),
});
