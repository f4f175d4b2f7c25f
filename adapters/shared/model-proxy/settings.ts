import { z } from "zod";
import { type AdapterSetting, readList } from "#contract";

/** The adapters that can use the proxy. */
const PROVIDERS: readonly string[] = ["claude", "claude-agent-sdk", "codex", "gemini", "opencode"];
const MODES = ["off", "on", "required"] as const;

/** `on`: tasks use the proxy where it is possible. `required`: the adapter is offline where it is not. */
export type ProxyMode = (typeof MODES)[number];

/** The setting `modelProxy`, which the adapters of agent programs share. */
export const modelProxy = {
  variable: "BRIDGE_MODEL_PROXY",
  schema: z
    .string()
    .superRefine((text, context) => {
      const fault = findFault(text);
      if (fault !== null) context.addIssue(fault);
    })
    .default("off")
    .meta({
      description:
        "Whether agent programs call their models through a proxy of Bridge, which counts every call and keeps the API keys: off, on (where it is possible) or required (an adapter is offline where it is not). Adapters can have their own modes, for example on,gemini=off.",
      after: "BRIDGE_APPROVAL_SECONDS",
    }),
} satisfies AdapterSetting<z.ZodType<string>>;

/** Returns the mode of an adapter. The text is a valid value of the setting. */
export function readProxyMode(text: string, provider: string): ProxyMode {
  const entries = readList(text).map(splitEntry);
  const own = entries.find(([name]) => name === provider) ?? entries.find(([name]) => name === "");
  return (own?.[1] ?? "off") as ProxyMode;
}

function findFault(text: string): string | null {
  const entries = readList(text).map(splitEntry);
  for (const [index, [name, mode]] of entries.entries()) {
    const entry = name === "" ? mode : `${name}=${mode}`;
    if (!(MODES as readonly string[]).includes(mode))
      return `must be off, on or required, with modes of single adapters after commas, such as on,gemini=off; got ${JSON.stringify(entry)}`;
    if (name !== "" && !PROVIDERS.includes(name))
      return `no adapter ${JSON.stringify(name)} can use the model proxy; it can be one of ${PROVIDERS.join(", ")}`;
    if (entries.findIndex(([other]) => other === name) !== index)
      return name === "" ? "must have only one mode for all adapters" : `names the adapter ${JSON.stringify(name)} more than once`;
  }
  return null;
}

/** Splits `claude=on` into its two parts. The first one is empty for a mode of all adapters. */
function splitEntry(entry: string): [provider: string, mode: string] {
  const [first = "", ...rest] = entry.split("=").map((part) => part.trim());
  return rest.length === 0 ? ["", first] : [first, rest.join("=")];
}
