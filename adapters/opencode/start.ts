import path from "node:path";
import { makeDirectoryInside, makePrivateDirectory, writeFileInside } from "@hak2i/nofollow-fs";
import type { ConnectionResult, ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { createProgramEnvironment } from "../shared/agent-program/program-environment.ts";
import { failure } from "../shared/process/failure.ts";
import { buildConfiguration } from "./configuration.ts";
import { createPermissions, type OpenCodeConnection, type Permissions } from "./permissions.ts";
import { CREDENTIALS_ADVICE, chooseModel, findProviders, isPriced, KEY_VARIABLES, type Model } from "./providers.ts";
import { createTally, type Tally } from "./usage.ts";
import { findRepository, findWorkspaceCode } from "./workspace-code.ts";

/** What a start of OpenCode needs. */
export interface OpenCodeStart {
  env: Record<string, string>;
  model: Model | null;
  permissions: Permissions;
  tally: Tally;
}

/** The file with the system prompt, in the task's TMPDIR. */
const INSTRUCTIONS = "instructions.md";

/** The form of session ids. */
const SESSION_ID = /^ses_\w+$/;

/** Prepares the start of a task, or returns why it cannot start. Over `cli` the system prompt is part of the configuration. */
export async function prepareStart(
  { request, context, timeline }: Pick<ProgramTask, "request" | "context" | "timeline">,
  connection: OpenCodeConnection,
): Promise<OpenCodeStart | ConnectionResult> {
  const { directories, resumeToken, systemPrompt } = request;
  const taskFailure = validateTask(directories.cwd, context);
  if (taskFailure !== null) return taskFailure;
  if (resumeToken !== undefined && !SESSION_ID.test(resumeToken))
    return failure("adapter_error", "The resume token is not the id of an OpenCode session.");
  const model = returnError(() => chooseModel(request, context));
  if (model instanceof Error) return failure("adapter_error", model.message);

  await prepareConfigDirectory(directories.tmp);
  const permissions = createPermissions(request, findRepository(directories.workspace), connection);
  const instructions = path.join(directories.tmp, INSTRUCTIONS);
  const isInFile = connection === "cli" && systemPrompt !== undefined;
  if (isInFile) await writeFileInside(directories.tmp, INSTRUCTIONS, systemPrompt, { obstacles: "remove" });
  const config = buildConfiguration(request, context, { permissions, ...(isInFile ? { instructions } : {}) });
  return {
    env: { ...createOpenCodeEnvironment(context, directories.tmp), OPENCODE_CONFIG_CONTENT: config },
    model,
    permissions,
    tally: createTally({
      isPriced: model !== null && isPriced(model, context),
      report: (data) => timeline.reportUsage(model === null ? data : { model: `${model.providerID}/${model.modelID}`, ...data }),
    }),
  };
}

/** Builds the environment of the program. `tmp` is the directory for its configuration and cache. */
export function createOpenCodeEnvironment(context: Pick<ProgramContext, "env" | "settings">, tmp: string): Record<string, string> {
  const isAgentHome = context.settings.home === "agent";
  return createProgramEnvironment(context, KEY_VARIABLES, {
    ...NO_DOWNLOADS,
    ...NO_PROJECT_CONFIG,
    ...(isAgentHome ? createIsolationVariables(tmp) : {}),
  });
}

const NO_DOWNLOADS = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_SHARE: "1",
};

/** Ignores configuration, plugins and skills in the workspace. */
const NO_PROJECT_CONFIG = {
  OPENCODE_DISABLE_PROJECT_CONFIG: "1",
  OPENCODE_PURE: "1",
  OPENCODE_DISABLE_CLAUDE_CODE: "1",
  OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
};

/** Creates variables that move configuration, cache and logins to the task's TMPDIR. Only sessions stay in the agent's home directory. */
const createIsolationVariables = (tmp: string) => ({
  XDG_CONFIG_HOME: path.join(tmp, "config"),
  // OpenCode runs downloaded programs and packages from its cache.
  XDG_CACHE_HOME: path.join(tmp, "cache"),
  // OpenCode also looks for `.opencode` here.
  OPENCODE_TEST_HOME: tmp,
  OPENCODE_AUTH_CONTENT: "{}",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
});

/**
 * Creates OpenCode's configuration directory. Its lock file lists the package for plugins as installed. Otherwise OpenCode downloads the
 * package, and ignores signals meanwhile.
 */
async function prepareConfigDirectory(tmp: string): Promise<void> {
  makePrivateDirectory(tmp);
  using directory = await makeDirectoryInside(tmp, ["config", "opencode"], { obstacles: "remove" });
  using _ = await makeDirectoryInside(directory, ["node_modules"], { obstacles: "remove" });
  const lockfile = { lockfileVersion: 3, packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };
  await writeFileInside(directory, "package-lock.json", JSON.stringify(lockfile), { obstacles: "remove" });
}

/** Checks for providers and for code in the workspace. Returns the failure; null if the task can start. */
function validateTask(cwd: string, context: ProgramContext): ConnectionResult | null {
  if (context.settings.home === "agent" && findProviders(context).length === 0)
    return failure("authentication_required", `OpenCode has no model provider: ${CREDENTIALS_ADVICE}.`);
  const code = findWorkspaceCode(cwd, context.env["HOME"]);
  if (code === null) return null;
  return failure(
    "adapter_error",
    `OpenCode would load code from ${code} regardless of the task's profile. Remove this file to run tasks here.`,
  );
}

/** Returns the error of a function instead of throwing it. */
function returnError<Value>(choose: () => Value): Value | Error {
  try {
    return choose();
  } catch (error) {
    return error as Error;
  }
}
