import { z } from "zod";
import { type AdapterSettings, choice, type ExecutionRequest, settingsSchema } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { httpUrl, modelSettings } from "../shared/model-api/settings.ts";

/** Perspectives that Gloo can answer from. */
const traditions = ["evangelical", "catholic", "mainline", "not_faith_specific"] as const;

/** The settings of the adapter for Gloo AI. */
export const glooAiSettings = {
  baseUrl: {
    variable: "BRIDGE_GLOO_AI_BASE_URL",
    schema: httpUrl.default("https://platform.ai.gloo.com/ai/v2").describe("URL of Gloo AI's model endpoint, with its path."),
  },
  tokenUrl: {
    variable: "BRIDGE_GLOO_AI_TOKEN_URL",
    schema: httpUrl
      .default("https://platform.ai.gloo.com/oauth2/token")
      .describe("URL that issues Gloo AI's access tokens for GLOO_CLIENT_ID and GLOO_CLIENT_SECRET."),
  },
  model: {
    variable: "BRIDGE_GLOO_AI_MODEL",
    schema: z
      .string()
      .min(1)
      .default("auto")
      .describe("Model of a task on Gloo AI, if the dispatch sets none: auto, family:<name> or the id of a model."),
  },
  tradition: {
    variable: "BRIDGE_GLOO_AI_TRADITION",
    schema: choice(traditions)
      .optional()
      .describe(`Perspective of Gloo AI's answers: ${traditions.join(", ")}. Default: Gloo AI's default`),
  },
  ...modelSettings,
} satisfies AdapterSettings;

const schema = settingsSchema(glooAiSettings);

/** Parses the settings of this adapter. */
export const parseGlooSettings = ({ settings }: Pick<ProgramContext, "settings">): z.infer<typeof schema> => schema.parse(settings);

const optionsSchema = z.strictObject({
  tradition: z.enum(traditions).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.number().int().min(1).optional(),
});
/** The options of a dispatch for Gloo AI, in `metadata.gloo`. */
export type GlooOptions = z.infer<typeof optionsSchema>;

/** Reads the options of a dispatch; returns the error as a string if they are not valid. */
export function readOptions({ metadata }: Pick<ExecutionRequest, "metadata">): GlooOptions | string {
  const parsed = optionsSchema.safeParse(metadata?.["gloo"] ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `${["metadata", "gloo", ...(issue?.path ?? [])].join(".")}: ${issue?.message ?? "is not valid"}.`;
}

/** Variable names for a client's credentials, as used in Gloo's examples. */
const CREDENTIAL_VARIABLES = [
  ["GLOO_CLIENT_ID", "GLOO_CLIENT_SECRET"],
  ["GLOO_AI_CLIENT_ID", "GLOO_AI_CLIENT_SECRET"],
] as const;

/** Reads the client's credentials from the first complete pair of variables, or returns which variables are missing. */
export function findClient({ env }: Pick<ProgramContext, "env">): { clientId: string; clientSecret: string } | { missing: string } {
  const pairs = CREDENTIAL_VARIABLES.map((names) => ({ names, values: names.map((name) => env[name] ?? "") }));
  for (const { values } of pairs) {
    const [clientId = "", clientSecret = ""] = values;
    if (clientId !== "" && clientSecret !== "") return { clientId, clientSecret };
  }
  const incompletePair = pairs.find(({ values }) => values.some((value) => value !== ""));
  const names: readonly string[] =
    incompletePair?.names.filter((_, index) => incompletePair.values[index] === "") ?? CREDENTIAL_VARIABLES[0];
  return {
    missing: `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} not set. Use the credentials of a client in Gloo AI Studio.`,
  };
}
