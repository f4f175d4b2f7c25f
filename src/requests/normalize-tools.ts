import { z } from "zod";
import type { NormalizedTool } from "#contract";
import { BridgeError, type FieldError, MAX_FIELD_ERRORS } from "../errors.ts";
import { noControlCharacters } from "./control-characters.ts";
import { toFieldErrors } from "./field-errors.ts";
import { jsonObject } from "./field-schemas.ts";

/** Maximum tools of a task. Model APIs accept 128, and MCP servers of large products have a few hundred. */
export const MAX_TOOLS = 1000;

/** Converts tools of all supported formats to the format of adapters. Throws a BridgeError with the path of each invalid tool. */
export function normalizeTools(tools: unknown): NormalizedTool[] {
  if (!Array.isArray(tools)) throw createInvalidToolError([{ path: "tools", message: "must be an array" }]);
  if (tools.length > MAX_TOOLS)
    throw createInvalidToolError([{ path: "tools", message: `must have at most ${MAX_TOOLS} entries; got ${tools.length}` }]);
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const normalized: NormalizedTool[] = [];
  for (const [index, tool] of tools.entries()) {
    // Further errors would not be reported.
    if (errors.length >= MAX_FIELD_ERRORS) break;
    const schema = detectForm(tool);
    const parsed = schema.safeParse(tool);
    if (!parsed.success) {
      errors.push(...toFieldErrors(parsed.error.issues, { prefix: ["tools", index], schema }));
      continue;
    }
    const { name } = parsed.data;
    if (seen.has(name)) errors.push({ path: `tools.${index}.name`, message: "is the name of an earlier tool; names must differ" });
    seen.add(name);
    normalized.push(parsed.data);
  }
  if (errors.length > 0) throw createInvalidToolError(errors);
  return normalized;
}

const name = z.string().min(1).max(128).regex(noControlCharacters, "must not contain control characters");
const description = z.string().nullish();
const ignoredField = z.unknown().optional();

const toTool = (tool: {
  name: string;
  description?: string | null | undefined;
  schema: Record<string, unknown> | null | undefined;
}): NormalizedTool => ({
  name: tool.name,
  description: tool.description ?? "",
  inputSchema: tool.schema ?? { type: "object" },
});

/** The fields of an OpenAI function. OpenAI's libraries always set `strict`. */
const openAiFunction = { name, description, parameters: jsonObject.nullish(), strict: z.boolean().nullish() };

const nestedFunctionForm = z
  .strictObject({ type: z.literal("function"), function: z.strictObject(openAiFunction) })
  .meta({ id: "ChatCompletionsTool", description: "The form of OpenAI's Chat Completions." })
  .transform((tool) => toTool({ ...tool.function, schema: tool.function.parameters }));
const flatFunctionForm = z
  .strictObject({ type: z.literal("function"), ...openAiFunction })
  .meta({ id: "ResponsesTool", description: "The form of OpenAI's Responses." })
  .transform((tool) => toTool({ ...tool, schema: tool.parameters }));
const anthropicForm = z
  .strictObject({
    type: z.literal("custom").optional(),
    name,
    description,
    input_schema: jsonObject.nullish(),
    cache_control: ignoredField,
  })
  .meta({ id: "AnthropicTool", description: "The form of Anthropic's Messages." })
  .transform((tool) => toTool({ ...tool, schema: tool.input_schema }));
/** The display and result fields of the MCP format are accepted and ignored. */
const mcpForm = z
  .strictObject({
    name,
    description,
    inputSchema: jsonObject.nullish(),
    title: ignoredField,
    annotations: ignoredField,
    outputSchema: ignoredField,
    icons: ignoredField,
    _meta: ignoredField,
  })
  .meta({ id: "McpTool", description: "The form of MCP, as `tools/list` returns it." })
  .transform((tool) => toTool({ ...tool, schema: tool.inputSchema }));

/** The schema of a tool for the API description. */
export const toolSchema = z.union([nestedFunctionForm, flatFunctionForm, anthropicForm, mcpForm]).meta({ id: "Tool" });

/** Detects the format by its characteristic fields, so that errors refer to the format that the caller meant. */
function detectForm(tool: unknown): z.ZodType<NormalizedTool> {
  const has = (key: string) => typeof tool === "object" && tool !== null && Object.hasOwn(tool, key);
  if (has("function")) return nestedFunctionForm;
  if (has("input_schema") || (has("type") && (tool as { type: unknown }).type === "custom")) return anthropicForm;
  return has("type") || has("parameters") ? flatFunctionForm : mcpForm;
}

const createInvalidToolError = (errors: FieldError[]): BridgeError =>
  new BridgeError("invalid_request", "A tool of the dispatch is not valid.", { errors });
