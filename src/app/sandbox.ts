import path from "node:path";
import type { Sandbox } from "#contract";
import { createSandbox } from "../../adapters/index.ts";
import type { Config } from "../config/config.ts";
import { StartError } from "../errors.ts";
import { listBorrowedObjects } from "../repositories/paths.ts";

/** The environment variables of this process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The sandbox, or null with the reason why BRIDGE_SANDBOX=auto found none that works. The reason is null when no
 * sandbox was configured.
 */
export type OpenedSandbox = { sandbox: Sandbox; missing: null } | { sandbox: null; missing: string | null };

/** Opens the sandbox that the configuration asks for; its own files are in `directory`. Throws StartError if it is required and fails. */
export async function openSandbox(
  config: Config,
  env: Environment,
  directory = path.join(config.dataDir, "sandbox"),
): Promise<OpenedSandbox> {
  if (config.sandbox === "off") return { sandbox: null, missing: null };
  const {
    dataDir,
    filesDir,
    workspacesDir,
    databaseFile,
    tokensFile,
    webhooksFile,
    budgetsFile,
    repositoriesFile,
    secretFiles,
    adapterSettings,
  } = config;
  const files = [databaseFile, tokensFile, webhooksFile, budgetsFile, repositoriesFile, ...secretFiles, path.resolve(".env")];
  const created = await createSandbox({
    env,
    hidden: [...new Set([dataDir, filesDir, workspacesDir])],
    secrets: files.filter((file) => file !== null),
    programs: [path.join(import.meta.dirname, "../.."), ...listAbsolutePaths(adapterSettings)],
    directory,
    readableWith: (writable) => listBorrowedObjects(filesDir, writable),
  });
  if (!("missing" in created)) return { sandbox: created, missing: null };
  if (config.sandbox === "required") throw new StartError(`Bridge cannot start, because BRIDGE_SANDBOX=required: ${created.missing}`);
  return { sandbox: null, missing: created.missing };
}

/** Lists all absolute paths in a setting, at any depth. */
function listAbsolutePaths(setting: unknown): string[] {
  if (typeof setting === "string") return path.isAbsolute(setting) ? [setting] : [];
  return typeof setting === "object" && setting !== null ? Object.values(setting).flatMap(listAbsolutePaths) : [];
}
