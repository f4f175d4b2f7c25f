import { symlink } from "node:fs/promises";
import path from "node:path";
import { makeDirectoryInside, makePrivateDirectory, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import type { ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { createProgramEnvironment } from "../shared/agent-program/program-environment.ts";
import { createPolicy } from "./policy.ts";
import { preloadScript } from "./preload-script.ts";
import { buildSettingsFile } from "./settings-file.ts";
import { getTelemetryLogPath } from "./telemetry-log.ts";

/** Variables that Google documents, for credentials and endpoints. */
const DOCUMENTED_VARIABLES = [
  "GEMINI_API_KEY",
  "GEMINI_MODEL",
  "GOOGLE_API_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_CLOUD_LOCATION",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_GEMINI_BASE_URL",
  "GOOGLE_GENAI_API_VERSION",
  "GOOGLE_GENAI_USE_GCA",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_VERTEX_BASE_URL",
];

/**
 * Builds the environment of Gemini. It runs as one process that handles signals, does not trust the workspace, and writes telemetry only to
 * `telemetryLog`.
 */
export function createGeminiEnvironment(
  context: Pick<ProgramContext, "env" | "settings">,
  { configuration, telemetryLog }: { configuration?: string; telemetryLog?: string } = {},
): Record<string, string> {
  return createProgramEnvironment(context, DOCUMENTED_VARIABLES, {
    GEMINI_CLI_NO_RELAUNCH: "true",
    // The preload script replaces this file.
    GEMINI_DEBUG_LOG_FILE: "/dev/null",
    GEMINI_CLI_TRUST_WORKSPACE: "false",
    ...(telemetryLog === undefined ? { GEMINI_TELEMETRY_ENABLED: "false" } : createTelemetryVariables(telemetryLog)),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloadScript)}`,
    ...(configuration === undefined ? {} : { GEMINI_CLI_HOME: configuration }),
  });
}

/** Creates the variables that make Gemini write telemetry to a local file only, without prompts and answers. */
const createTelemetryVariables = (file: string): Record<string, string> => ({
  GEMINI_TELEMETRY_ENABLED: "true",
  GEMINI_TELEMETRY_TARGET: "local",
  GEMINI_TELEMETRY_USE_COLLECTOR: "false",
  GEMINI_TELEMETRY_OUTFILE: file,
  GEMINI_TELEMETRY_LOG_PROMPTS: "false",
  GEMINI_TELEMETRY_TRACES_ENABLED: "false",
});

/** What a start of Gemini needs. */
export interface GeminiStart {
  env: Record<string, string>;
  policyFile: string;
}

/** Writes the files that Gemini reads at startup. Each task gets a new configuration, so that no task can change that of a later one. */
export async function prepareStart({ request, context }: Pick<ProgramTask, "request" | "context">): Promise<GeminiStart> {
  const { tmp, home } = request.directories;
  makePrivateDirectory(tmp);
  // Removes files that an earlier process of the task may have left there.
  const options = { obstacles: "remove" } as const;
  using directory = await makeDirectoryInside(tmp, ["gemini"], options);
  using files = await makeDirectoryInside(directory, [".gemini"], options);
  const configuration = path.join(tmp, "gemini");
  const policyFile = path.join(configuration, "policy.toml");
  await writeFileInside(directory, "policy.toml", createPolicy(request), options);
  const telemetryLog = getTelemetryLogPath(tmp);
  if (context.settings.home === "user") return { env: createGeminiEnvironment(context, { telemetryLog }), policyFile };

  const settings = JSON.stringify(buildSettingsFile(context, request.mcpServers ?? []));
  await writeFileInside(files, "settings.json", settings, options);
  // Sessions are stored in the agent's home directory, where later tasks find them.
  for (const name of ["tmp", "history"]) {
    // Replaces links that a task may have left in the home directory.
    using _ = await makeDirectoryInside(home, [".gemini", name], options);
    await removeInside(files, name);
    await symlink(path.join(home, ".gemini", name), path.join(files.path, name));
  }
  return { env: createGeminiEnvironment(context, { configuration, telemetryLog }), policyFile };
}
