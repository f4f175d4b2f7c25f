import { z } from "zod";
import { type CustomDomain, readCustomDomains } from "./domains/custom-domains.ts";
import { isJsonObject } from "./prompts/find-json.ts";

/** The settings of one runtime in `.bridge-settings.json`. */
export interface BridgeSettings {
  enabled: boolean;
  /** Models to run separately; empty: the default of the runtime. */
  models: string[];
}

/** Council settings of a workspace. */
export interface CouncilSettings {
  of(bridge: string): BridgeSettings;
  reasoningLevel: "medium" | "high" | "xhigh" | null;
  /** Whether `ttl_hours` have passed since `updated`. */
  isStale: boolean;
  /** The domains that the workspace defines. */
  customDomains: readonly CustomDomain[];
  /** Description of the faults of the file and their effect; null without faults. */
  fault: string | null;
}

/** Name of the settings file at the root of a workspace. */
export const SETTINGS_FILE = ".bridge-settings.json";

/** Maximum number of reported faults. */
const REPORTED_FAULTS = 5;

/** The fields, each with the message for an invalid value. */
const fields = {
  bridges: { schema: z.record(z.string(), z.unknown()), must: "must be an object" },
  model: { schema: z.string().min(1), must: "must be the name of a model" },
  models: { schema: z.array(z.string().min(1)).max(10), must: "must be a list of at most 10 names of models" },
  reasoning_level: { schema: z.enum(["medium", "high", "xhigh"]), must: "must be medium, high or xhigh" },
  updated: { schema: z.string(), must: "must be a time in ISO 8601" },
  ttl_hours: { schema: z.number().positive(), must: "must be a number above 0" },
} as const;

/**
 * Reads the settings field by field. An invalid field is ignored and reported. An invalid `enabled` disables its
 * runtime, which may have been the intention.
 */
export function readSettings(content: string | null, now = Date.now()): CouncilSettings {
  const none: CouncilSettings = {
    of: () => ({ enabled: true, models: [] }),
    ...{ reasoningLevel: null, isStale: false, customDomains: [], fault: null },
  };
  if (content === null) return none;
  const json = parseJson(content);
  if (json === undefined) return { ...none, fault: `${SETTINGS_FILE} is not used. It is not valid JSON.` };
  if (!isJsonObject(json)) return { ...none, fault: `${SETTINGS_FILE} is not used. It must be a JSON object.` };
  const faults: string[] = [];
  function read<Name extends keyof typeof fields>(
    from: Record<string, unknown>,
    name: Name,
    path = "",
  ): z.output<(typeof fields)[Name]["schema"]> | null {
    const value = Object.hasOwn(from, name) ? from[name] : null;
    if (value === null) return null;
    const { schema, must } = fields[name];
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data as z.output<(typeof fields)[Name]["schema"]>;
    faults.push(`${path}${name} ${must}, and is ignored.`);
    return null;
  }
  const readBridge = (name: string, value: unknown): BridgeSettings => {
    const path = `bridges.${name}`;
    if (!isJsonObject(value)) {
      faults.push(`${path} must be an object; this runtime is disabled until it is one.`);
      return { enabled: false, models: [] };
    }
    const enabled = value["enabled"] ?? true;
    if (typeof enabled !== "boolean") faults.push(`${path}.enabled must be true or false; this runtime is disabled until it is.`);
    const model = read(value, "model", `${path}.`);
    const models = read(value, "models", `${path}.`) ?? [];
    return { enabled: enabled === true, models: models.length > 0 ? [...new Set(models)] : model === null ? [] : [model] };
  };
  const bridges = new Map(Object.entries(read(json, "bridges") ?? {}).map(([name, value]) => [name, readBridge(name, value)]));
  const updatedAt = Date.parse(read(json, "updated") ?? "");
  const ttlHours = read(json, "ttl_hours");
  const reasoningLevel = read(json, "reasoning_level");
  const { customDomains, issues } = readCustomDomains(json["custom_domains"] ?? []);
  for (const { path, message, ...issue } of issues) {
    const field = ["custom_domains", ...path, ...("keys" in issue ? issue.keys.slice(0, 1) : [])].join(".");
    const reason = "keys" in issue ? "is not a field of a domain" : message;
    faults.push(`${field} ${reason}. ${path.length === 0 ? "No domain of the file is used." : "This domain is not used."}`);
  }
  const left = faults.length - REPORTED_FAULTS;
  return {
    of: (bridge) => bridges.get(bridge) ?? { enabled: true, models: [] },
    reasoningLevel,
    isStale: ttlHours !== null && !(now - updatedAt < ttlHours * 3_600_000),
    customDomains,
    fault:
      faults.length === 0
        ? null
        : `${SETTINGS_FILE}: ${faults.slice(0, REPORTED_FAULTS).join(" ")}${left > 0 ? ` ${left} more fields have faults.` : ""}`,
  };
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
