import path from "node:path";
import { makeDirectoryInside, makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
import type { Ending, ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programEnvironment } from "../shared/agent-program/program-environment.ts";
import { configText } from "./configuration.ts";
import { failure } from "./failures.ts";
import { type OpenCodeConnection, type Permissions, permissionsOf } from "./permissions.ts";
import { chooseModel, credentialsAdvice, findProviders, isPriced, keyNames, type Model } from "./providers.ts";
import { createTally, type Tally } from "./usage.ts";
import { findRepository, findWorkspaceCode } from "./workspace-code.ts";

/** What a start for one task is made of. */
export interface OpenCodeStart {
  env: Record<string, string>;
  model: Model | null;
  permissions: Permissions;
  tally: Tally;
}

/** The file with the system prompt, in the task's TMPDIR. */
const INSTRUCTIONS = "instructions.md";

/** Sessions have ids of this form; anything else is no session of OpenCode. */
const sessionId = /^ses_\w+$/;

/** Prepares the start of a task, or says why there is none. Over `cli` the system prompt is part of the configuration. */
export async function prepareStart(
  { request, context }: Pick<ProgramTask, "request" | "context">,
  connection: OpenCodeConnection,
): Promise<OpenCodeStart | Ending> {
  const { directories, resumeToken, systemPrompt } = request;
  const obstacle = findObstacle(directories.cwd, context);
  if (obstacle !== null) return obstacle;
  if (resumeToken !== undefined && !sessionId.test(resumeToken))
    return failure("adapter_error", "The resume token is not the id of an OpenCode session.");
  const model = tryChoosing(() => chooseModel(request, context));
  if (model instanceof Error) return failure("adapter_error", model.message);

  await prepareConfigDirectory(directories.tmp);
  const permissions = permissionsOf(request, findRepository(directories.workspace), connection);
  const instructions = path.join(directories.tmp, INSTRUCTIONS);
  const inFile = connection === "cli" && systemPrompt !== undefined;
  if (inFile) await writeFileInside(directories.tmp, INSTRUCTIONS, systemPrompt, { obstacles: "remove" });
  const config = configText(request, context, { permissions, ...(inFile ? { instructions } : {}) });
  return {
    env: { ...openCodeEnvironment(context, directories.tmp), OPENCODE_CONFIG_CONTENT: config },
    model,
    permissions,
    tally: createTally({ isPriced: model !== null && isPriced(model, context) }),
  };
}

/** The environment of every start of the program; `tmp` is where its own configuration would be. */
export function openCodeEnvironment(context: Pick<ProgramContext, "env" | "settings">, tmp: string): Record<string, string> {
  const isOwn = context.settings.home === "agent";
  return programEnvironment(context, keyNames, { ...quiet, ...closed, ...(isOwn ? ownHome(tmp) : {}) });
}

const quiet = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_SHARE: "1",
};

/** What lies in a workspace is not to configure its own task. */
const closed = {
  OPENCODE_DISABLE_PROJECT_CONFIG: "1",
  OPENCODE_PURE: "1",
  OPENCODE_DISABLE_CLAUDE_CODE: "1",
  OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
};

/** No task leaves the next one configuration, code or logins; sessions are all that stays in an agent's home. */
const ownHome = (tmp: string) => ({
  XDG_CONFIG_HOME: path.join(tmp, "config"),
  // Programs and packages that it has fetched are started from there.
  XDG_CACHE_HOME: path.join(tmp, "cache"),
  // Where `.opencode` is looked for beside the configuration.
  OPENCODE_TEST_HOME: tmp,
  OPENCODE_AUTH_CONTENT: "{}",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
});

/**
 * Makes the directory of OpenCode's own configuration. It looks as if the package for plugins was there: otherwise OpenCode installs it,
 * from the network, and does not stop when it is told to meanwhile.
 */
async function prepareConfigDirectory(tmp: string): Promise<void> {
  makePrivateDirectory(tmp);
  using directory = await makeDirectoryInside(tmp, ["config", "opencode"], { obstacles: "remove" });
  using _ = await makeDirectoryInside(directory, ["node_modules"], { obstacles: "remove" });
  const lockfile = { lockfileVersion: 3, packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };
  await writeFileInside(directory, "package-lock.json", JSON.stringify(lockfile), { obstacles: "remove" });
}

function findObstacle(cwd: string, context: ProgramContext): Ending | null {
  if (context.settings.home === "agent" && findProviders(context).length === 0)
    return failure("authentication_required", `OpenCode has no provider of models: ${credentialsAdvice}.`);
  const code = findWorkspaceCode(cwd, context.env["HOME"]);
  if (code === null) return null;
  return failure(
    "adapter_error",
    `OpenCode would load code from the workspace, whatever the task may do: ${code}. Move it away to run tasks here.`,
  );
}

function tryChoosing<Value>(choose: () => Value): Value | Error {
  try {
    return choose();
  } catch (error) {
    return error as Error;
  }
}
