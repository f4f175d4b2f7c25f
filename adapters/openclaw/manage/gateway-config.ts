import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { isJsonObject, ManagementError } from "#contract";
import { anyResponse, callGateway, callGatewayForWrite, type ManageContext } from "./manage-context.ts";
import { isStaleConfig, isSupersededChange, redactPaths } from "./management-errors.ts";

/** Maximum attempts of a change while other clients change the configuration. */
const MAX_TRIES = 4;
const WRITE_LIMIT_MS = 45_000;
const APPLY_LIMIT_MS = 10_000;
const POLL_MS = 200;

const record = z.record(z.string(), z.unknown());
const configSchema = z.object({
  path: z.string().optional(),
  hash: z.string(),
  valid: z.boolean(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).catch([]),
  configRevisionHash: z.string().optional(),
  appliedConfigHash: z.string().optional(),
  /** The effective configuration, including defaults. */
  config: z
    .object({ agents: z.object({ defaults: z.object({ maxConcurrent: z.number().optional() }).optional() }).optional() })
    .prefault({}),
  sourceConfig: z.object({
    agents: z
      .object({ defaults: z.object({ workspace: z.string().optional() }).optional(), entries: z.record(z.string(), record).optional() })
      .optional(),
    bindings: z.array(record).optional(),
    mcp: z.object({ servers: record.optional() }).optional(),
  }),
});

/** The gateway's configuration. `sourceConfig` is the file as written, without defaults. The gateway redacts secrets. */
export type GatewayConfig = z.infer<typeof configSchema>;

/** Reads the configuration. Rejects with `unavailable` if it is not valid. */
export async function readConfig(context: ManageContext): Promise<GatewayConfig> {
  const config = await callGateway(context, configSchema, "config.get");
  if (config.valid) return config;
  const issues = config.issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new ManagementError("unavailable", `The gateway's configuration is not valid: ${redactPaths(issues)}`);
}

/**
 * Changes the configuration with a merge patch. `change` receives the current configuration, and returns the patch or throws. It is called
 * again if another client changed the configuration in the meantime. Waits a limited time until the gateway has applied the change.
 */
export async function changeConfig(context: ManageContext, change: (config: GatewayConfig) => object): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const config = await readConfig(context);
    const patch = change(config);
    const params = { raw: JSON.stringify(patch), baseHash: config.hash, replacePaths: listReplacedArrays(patch, config.sourceConfig) };
    try {
      await callGatewayForWrite(context, anyResponse, "config.patch", params, { timeoutMs: WRITE_LIMIT_MS });
      break;
    } catch (error) {
      if (isSupersededChange(error)) break;
      if (!isStaleConfig(error) || tries === MAX_TRIES) throw error;
    }
  }
  await waitUntilApplied(context);
}

/** Waits until the gateway has applied its configuration. Returns false after a time limit: some changes apply only after a restart. */
export async function waitUntilApplied(context: ManageContext): Promise<boolean> {
  const deadline = performance.now() + APPLY_LIMIT_MS;
  for (;;) {
    if (isApplied(await readConfig(context))) return true;
    if (performance.now() > deadline) return false;
    await delay(POLL_MS, undefined, { signal: context.signal });
  }
}

/** Returns whether the gateway uses the written configuration; true for versions that do not report it. */
const isApplied = ({ configRevisionHash, appliedConfigHash }: GatewayConfig): boolean =>
  configRevisionHash === undefined || appliedConfigHash === undefined || configRevisionHash === appliedConfigHash;

/** Returns the paths of arrays that a patch replaces or removes. The gateway rejects a shorter array unless its path is listed. */
function listReplacedArrays(change: unknown, current: unknown, path = ""): string[] {
  if (Array.isArray(current)) return [path];
  if (!isJsonObject(current)) return [];
  const fields = isJsonObject(change) ? Object.entries(change) : Object.keys(current).map((name) => [name, null] as const);
  return fields.flatMap(([name, value]) => listReplacedArrays(value, current[name], path === "" ? name : `${path}.${name}`));
}
