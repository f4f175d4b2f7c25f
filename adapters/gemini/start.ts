import { symlink } from "node:fs/promises";
import path from "node:path";
import { makeDirectoryInside, makePrivateDirectory, removeInside, writeFileInside } from "@hak2i/nofollow-fs";
import type { ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programEnvironment } from "../shared/agent-program/program-environment.ts";
import { geminiSettings } from "./configuration.ts";
import { policyOf } from "./policy.ts";
import { preloadedCode } from "./preload-script.ts";
import { callLogFile } from "./telemetry-log.ts";

/** Variables that the vendor documents: credentials, and where the models are. */
const documented = [
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

/** What every start of the program gets: one process, which stops when it is told to; no trust in the workspace; no telemetry. */
export function geminiEnvironment(
  context: Pick<ProgramContext, "env" | "settings">,
  { configuration, callLog }: { configuration?: string; callLog?: string } = {},
): Record<string, string> {
  return programEnvironment(context, documented, {
    GEMINI_CLI_NO_RELAUNCH: "true",
    GEMINI_CLI_TRUST_WORKSPACE: "false",
    ...(callLog === undefined ? { GEMINI_TELEMETRY_ENABLED: "false" } : telemetryInto(callLog)),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloadedCode)}`,
    ...(configuration === undefined ? {} : { GEMINI_CLI_HOME: configuration }),
  });
}

/** The program's telemetry goes into a file of the task, and nowhere else; without messages and answers. */
const telemetryInto = (file: string): Record<string, string> => ({
  GEMINI_TELEMETRY_ENABLED: "true",
  GEMINI_TELEMETRY_TARGET: "local",
  GEMINI_TELEMETRY_USE_COLLECTOR: "false",
  GEMINI_TELEMETRY_OUTFILE: file,
  GEMINI_TELEMETRY_LOG_PROMPTS: "false",
  GEMINI_TELEMETRY_TRACES_ENABLED: "false",
});

/** What a start for one task is made of. */
export interface GeminiStart {
  env: Record<string, string>;
  policyFile: string;
}

/** Writes what the program reads when it starts. Its configuration is made anew for each task, so that no task leaves one to the next. */
export async function prepareStart({ request, context }: Pick<ProgramTask, "request" | "context">): Promise<GeminiStart> {
  const { tmp, home } = request.directories;
  makePrivateDirectory(tmp);
  // Files that an earlier process of the task may have left there are removed.
  const own = { obstacles: "remove" } as const;
  using directory = await makeDirectoryInside(tmp, ["gemini"], own);
  using files = await makeDirectoryInside(directory, [".gemini"], own);
  const configuration = path.join(tmp, "gemini");
  const policyFile = path.join(configuration, "policy.toml");
  await writeFileInside(directory, "policy.toml", policyOf(request), own);
  const callLog = callLogFile(tmp);
  if (context.settings.home === "user") return { env: geminiEnvironment(context, { callLog }), policyFile };

  const settings = JSON.stringify(geminiSettings(context, request.mcpServers ?? []));
  await writeFileInside(files, "settings.json", settings, own);
  // Sessions are what a task leaves to the next.
  for (const kept of ["tmp", "history"]) {
    // A task may have left a link to anywhere in the home.
    using _ = await makeDirectoryInside(home, [".gemini", kept], own);
    await removeInside(files, kept);
    await symlink(path.join(home, ".gemini", kept), path.join(files.path, kept));
  }
  return { env: geminiEnvironment(context, { configuration, callLog }), policyFile };
}
