import { symlink } from "node:fs/promises";
import path from "node:path";
import { makeDirectoryInside, makePrivateDirectory, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import type { ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programEnvironment } from "../shared/agent-program/program-environment.ts";
import { policyOf } from "./policy.ts";
import { preloadScript } from "./preload-script.ts";
import { buildSettingsFile } from "./settings-file.ts";
import { telemetryLogFile } from "./telemetry-log.ts";

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

/** Builds the environment of Gemini: one process, which handles signals; no trust in the workspace; telemetry only into `telemetryLog`. */
export function geminiEnvironment(
  context: Pick<ProgramContext, "env" | "settings">,
  { configuration, telemetryLog }: { configuration?: string; telemetryLog?: string } = {},
): Record<string, string> {
  return programEnvironment(context, DOCUMENTED_VARIABLES, {
    GEMINI_CLI_NO_RELAUNCH: "true",
    GEMINI_CLI_TRUST_WORKSPACE: "false",
    ...(telemetryLog === undefined ? { GEMINI_TELEMETRY_ENABLED: "false" } : logTelemetry(telemetryLog)),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloadScript)}`,
    ...(configuration === undefined ? {} : { GEMINI_CLI_HOME: configuration }),
  });
}

/** Variables that write telemetry to a local file only, without prompts and answers. */
const logTelemetry = (file: string): Record<string, string> => ({
  GEMINI_TELEMETRY_ENABLED: "true",
  GEMINI_TELEMETRY_TARGET: "local",
  GEMINI_TELEMETRY_USE_COLLECTOR: "false",
  GEMINI_TELEMETRY_OUTFILE: file,
  GEMINI_TELEMETRY_LOG_PROMPTS: "false",
  GEMINI_TELEMETRY_TRACES_ENABLED: "false",
});

export interface GeminiStart {
  env: Record<string, string>;
  policyFile: string;
}

/** Writes the files that Gemini reads at startup. Each task gets a new configuration, so that no task can change that of a later one. */
export async function prepareStart({ request, context }: Pick<ProgramTask, "request" | "context">): Promise<GeminiStart> {
  const { tmp, home } = request.directories;
  makePrivateDirectory(tmp);
  // Removes files that an earlier process of the task may have left there.
  const own = { obstacles: "remove" } as const;
  using directory = await makeDirectoryInside(tmp, ["gemini"], own);
  using files = await makeDirectoryInside(directory, [".gemini"], own);
  const configuration = path.join(tmp, "gemini");
  const policyFile = path.join(configuration, "policy.toml");
  await writeFileInside(directory, "policy.toml", policyOf(request), own);
  const telemetryLog = telemetryLogFile(tmp);
  if (context.settings.home === "user") return { env: geminiEnvironment(context, { telemetryLog }), policyFile };

  const settings = JSON.stringify(buildSettingsFile(context, request.mcpServers ?? []));
  await writeFileInside(files, "settings.json", settings, own);
  // Sessions are stored in the agent's home directory, where later tasks find them.
  for (const kept of ["tmp", "history"]) {
    // A task may have left links in the home directory.
    using _ = await makeDirectoryInside(home, [".gemini", kept], own);
    await removeInside(files, kept);
    await symlink(path.join(home, ".gemini", kept), path.join(files.path, kept));
  }
  return { env: geminiEnvironment(context, { configuration, telemetryLog }), policyFile };
}
