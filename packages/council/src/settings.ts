import { z } from "zod";

const bridgeSchema = z.looseObject({
  enabled: z.boolean().default(true),
  model: z.string().min(1).nullish(),
  models: z.array(z.string().min(1)).max(10).default([]),
});

const schema = z.looseObject({
  bridges: z.record(z.string(), bridgeSchema).default({}),
  reasoning_level: z.enum(["medium", "high", "xhigh"]).nullish(),
  updated: z.string().nullish(),
  ttl_hours: z.number().positive().nullish(),
});

/** What `.bridge-settings.json` says of one runtime. */
export interface BridgeSettings {
  enabled: boolean;
  /** Models to run on, each on its own; empty: the runtime's own choice. */
  models: string[];
}

/** The settings of a workspace's councils. */
export interface CouncilSettings {
  of(bridge: string): BridgeSettings;
  reasoningLevel: "medium" | "high" | "xhigh" | null;
  /** Older than they say they are good for: whoever relies on them looks again. */
  isStale: boolean;
  /** What is wrong with the file, in words; then it counts as not there. */
  fault: string | null;
}

/** Name of the file, at the root of a workspace. */
export const SETTINGS_FILE = ".bridge-settings.json";

/** Reads the settings; null is a file that is not there. A file with faults is no reason to stop: it is told, and what it would say is left out. */
export function readSettings(content: string | null, now = Date.now()): CouncilSettings {
  const none: CouncilSettings = { of: () => ({ enabled: true, models: [] }), reasoningLevel: null, isStale: false, fault: null };
  if (content === null) return none;
  const given = parseJson(content);
  if (given === undefined) return { ...none, fault: `${SETTINGS_FILE} is not used. It is no JSON.` };
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
    return { ...none, fault: `${SETTINGS_FILE} is not used. ${faults.slice(0, 5).join("; ")}` };
  }
  const { bridges, reasoning_level, updated, ttl_hours } = parsed.data;
  const updatedAt = Date.parse(updated ?? "");
  return {
    of(bridge) {
      const { enabled = true, model, models = [] } = Object.hasOwn(bridges, bridge) ? (bridges[bridge] ?? {}) : {};
      return { enabled, models: models.length > 0 ? [...new Set(models)] : model === null || model === undefined ? [] : [model] };
    },
    reasoningLevel: reasoning_level ?? null,
    isStale: ttl_hours !== null && ttl_hours !== undefined && !(now - updatedAt < ttl_hours * 3_600_000),
    fault: null,
  };
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
