import { z } from "zod";
import { type AdapterSettings, choice, expected, readFlag, settingsSchema } from "#contract";
import { httpUrl, modelSettings } from "../shared/model-api/settings.ts";

/** The settings of the adapter for any model behind an endpoint. */
export const vercelAiSettings = {
  protocol: {
    variable: "BRIDGE_VERCEL_AI_PROTOCOL",
    schema: choice(["openai-compatible", "anthropic"])
      .default("openai-compatible")
      .describe("Protocol of the vercel-ai endpoint: openai-compatible or anthropic."),
  },
  baseUrl: {
    variable: "BRIDGE_VERCEL_AI_BASE_URL",
    schema: httpUrl
      .optional()
      .describe(
        "URL of the vercel-ai endpoint with its path, for example http://127.0.0.1:11434/v1. Default: Anthropic's API if the protocol is anthropic, otherwise none",
      ),
  },
  apiKey: {
    variable: "BRIDGE_VERCEL_AI_API_KEY",
    schema: z.string().min(1).optional().meta({ description: "API key of the vercel-ai endpoint, if it requires one.", isSecret: true }),
  },
  model: {
    variable: "BRIDGE_VERCEL_AI_MODEL",
    schema: z.string().min(1).optional().describe("Model of a task on vercel-ai, if the dispatch sets none."),
  },
  structuredOutput: {
    variable: "BRIDGE_VERCEL_AI_STRUCTURED_OUTPUT",
    read: readFlag,
    schema: z
      .boolean(expected("true or false"))
      .default(false)
      .describe(
        "Whether Bridge sends the JSON Schema of a structured output to the vercel-ai endpoint. If false, the message asks the model for JSON.",
      ),
  },
  toolImages: {
    variable: "BRIDGE_VERCEL_AI_TOOL_IMAGES",
    read: readFlag,
    schema: z
      .boolean(expected("true or false"))
      .optional()
      .describe(
        "Whether the model of the vercel-ai endpoint receives the images of MCP tools. If false, it receives their type and size. Default: true if the protocol is anthropic, otherwise false, because OpenAI's chat completions accept only text in the results of tools.",
      ),
  },
  ...modelSettings,
} satisfies AdapterSettings;

export const vercelAiSettingsSchema = settingsSchema(vercelAiSettings);
