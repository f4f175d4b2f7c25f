import { isAbsolute } from "node:path";
import { z } from "zod";
import type { AdapterInput, InputField } from "#contract";
import { keepModes } from "../task.ts";
import { findRefFault } from "./branch-name.ts";
import { CONTROL_CHARACTERS, NUL, noControlCharacters } from "./control-characters.ts";
import { describedDispatchFiles, dispatchFiles } from "./dispatch-files.ts";
import { jsonObject, listOf, textList, textRecord } from "./field-schemas.ts";
import { MAX_TOOLS, toolSchema } from "./normalize-tools.ts";

/** Maximum MCP servers of a dispatch. Each is a connection or a process of the runtime. */
const MAX_MCP_SERVERS = 100;
/** Maximum arguments, environment variables or headers of an MCP server. */
const MAX_MCP_ENTRIES = 1000;

/** Maximum adapters to which a task can move. */
const MAX_FALLBACKS = 4;
const MAX_RETRIES = 5;
const MAX_WAIT_SECONDS = 7 * 86_400;
/** How long a task may wait for the end of a usage limit if its dispatch sets no other time. */
export const DEFAULT_WAIT_SECONDS = 21_600;

/** Maximum tags that a dispatch can require. */
const MAX_TAGS = 16;
/** The longest tag is `node:` and the name of a node, of 64 characters. */
const NODE_TAG = /^[A-Za-z0-9]([A-Za-z0-9._:-]{0,67}[A-Za-z0-9])?$/;

/** The id of a task. Callers may choose it. */
export const taskIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_:-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 _ : -")
  .describe("Id of the task and idempotency key of the dispatch. Default: the Idempotency-Key header, else Bridge generates one.");

const longText = (minimum: number) => characters(minimum, 1_000_000);
/** Returns the schema of a text that becomes an argument or a header, so it must not contain control characters. */
const token = (maximum: number) => characters(1, maximum).regex(noControlCharacters, "must not contain control characters");
const timeoutSeconds = z.number().min(1).max(86_400);

const noNul = [new RegExp(`^[^${NUL}]*$`), "must not contain NUL"] as const;

const variableName = [new RegExp(`^[^=${NUL}]+$`), "must be the name of an environment variable"] as const;
const stdioServer = z
  .strictObject({
    name: token(128),
    transport: z.literal("stdio"),
    command: token(4096),
    args: textList(MAX_MCP_ENTRIES, noNul).optional(),
    env: textRecord(MAX_MCP_ENTRIES, { name: variableName, text: noNul }).optional(),
  })
  .meta({ id: "StdioMcpServer", description: "An MCP server that the runtime starts as a process." });
const httpServer = z
  .strictObject({
    name: token(128),
    transport: z.enum(["http", "sse"]),
    url: absoluteUrl(),
    headers: textRecord(MAX_MCP_ENTRIES, {
      name: [/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "must be the name of a header"],
      text: [/^[\t\x20-\x7e\x80-\xff]*$/, "must be the value of a header"],
    }).optional(),
  })
  .meta({ id: "HttpMcpServer", description: "An MCP server that the runtime connects to." });
const mcpServer = z.discriminatedUnion("transport", [stdioServer, httpServer]).meta({ id: "McpServer" });

/** In most configuration files, servers are an object by name, so the error shows the format of a dispatch. */
const mcpServersForm =
  'an array with the name and the transport in each entry, for example [{"name":"files","transport":"stdio","command":"mcp-files"}] or [{"name":"docs","transport":"http","url":"https://docs.example/mcp"}]';

const jsonSchema = jsonObject.describe("JSON Schema of the output. At most 64 KiB as JSON.");
const outputStrategy = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("stream") }).meta({ id: "StreamOutput", description: "The text of the answer." }),
    z
      .strictObject({ type: z.literal("file"), path: characters(1, 4096).describe("Relative to the workspace.") })
      .meta({ id: "FileOutput", description: "A file that the task writes. Implies the profile `modify`." }),
    z
      .strictObject({ type: z.literal("structured"), schema: jsonSchema })
      .meta({ id: "StructuredOutput", description: "JSON that matches a schema." }),
  ])
  .meta({ id: "OutputStrategy" });

const metadata = jsonObject.refine(({ cwd }) => cwd === undefined || (typeof cwd === "string" && isRelativePath(cwd)), {
  path: ["cwd"],
  error: "must be a path relative to the workspace",
});

/** The pattern of agent ids. An id is a single path segment. */
export const agentIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Maximum labels of a task. Each is a row of an index. */
const MAX_LABELS = 16;
/** The name of a label. It contains no `=`, because filters separate name and value by it. */
const labelName = [
  /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/,
  "must have a name of 1 to 63 of A-Z a-z 0-9 . _ / -, which begins and ends with a letter or digit",
] as const;
const labelValue = [new RegExp(`^[^${CONTROL_CHARACTERS}]{1,128}$`), "must have 1 to 128 characters, without control characters"] as const;

/** An amount of US dollars that a budget permits. */
export const budgetUsd = z.number().min(0.000_001).max(1_000_000);

const dispatchBudget = z
  .strictObject({
    maxCostUsd: budgetUsd.optional().describe("US dollars."),
    maxTokens: z.int().min(1).max(1_000_000_000_000).optional().describe("Tokens of input and output."),
    onReached: z
      .enum(["stop", "ask"])
      .default("stop")
      .describe(
        "At the maximum, the task fails with budget_exceeded (stop), or its next model call waits for an approval of the kind budget (ask). ask needs an adapter with holdsModelCalls.",
      ),
    onUnknownCost: z
      .enum(["reserve", "refuse"])
      .default("reserve")
      .describe("Without a price of the model, the reservation counts as spent (reserve), or the dispatch is rejected (refuse)."),
  })
  .refine(({ maxCostUsd, maxTokens }) => maxCostUsd !== undefined || maxTokens !== undefined, "must set maxCostUsd, maxTokens or both")
  .meta({ id: "TaskBudget", description: "The maximum that the task and its child tasks may spend together." });

const refName = (options: Parameters<typeof findRefFault>[1]) =>
  z.string().superRefine((name, context) => {
    const fault = findRefFault(name, options);
    if (fault !== null) context.addIssue({ code: "custom", message: fault });
  });

const dispatchRepository = z
  .strictObject({
    name: token(128).describe("Name of the repository, as the operator has set it."),
    ref: refName({ isRef: true })
      .optional()
      .describe(
        "Branch, tag, full commit id or stored branch of an earlier task, from which the task starts. Default: `defaultRef` of the repository.",
      ),
    branch: refName({}).optional().describe("Branch of the task. Default: `bridge/` and the id of the task, with `+` for each `:`."),
    keep: z
      .enum(keepModes)
      .optional()
      .describe("What Bridge keeps after the end: the branch, only the commits for `/diff` and `/patch`, or nothing. Default: branch."),
    push: z
      .boolean()
      .optional()
      .describe(
        "Whether Bridge pushes the branch to the source of the repository. Needs `keep: branch` and the permission of the operator. Default: false.",
      ),
  })
  .refine(({ keep = "branch", push }) => push !== true || keep === "branch", {
    path: ["push"],
    error: 'needs keep "branch"; omit keep, or omit push',
  })
  .meta({ id: "DispatchRepository", description: "The repository in whose separate work tree the task runs." });

/** The repository that a dispatch asks for. */
export type AskedRepository = z.infer<typeof dispatchRepository>;

const fields = {
  taskId: taskIdSchema.optional(),
  provider: token(128).optional().describe("Name of the adapter. Optional if only one adapter is loaded, or if agent.json names one."),
  agentId: z
    .string()
    .regex(agentIdPattern, "must be 1 to 128 of A-Z a-z 0-9 _ -")
    .describe("Name of the workspace, and of the agent on runtimes that have agents."),
  message: longText(1).optional(),
  stdin: longText(0).optional().describe("Input for the prompt, appended to it in a labeled block."),
  systemPrompt: z.string().optional(),
  model: token(256).optional(),
  // normalizeTools validates the entries, because it detects their format.
  tools: listOf(MAX_TOOLS, z.unknown()).optional(),
  mcpServers: rejectRepeatedNames(listOf(MAX_MCP_SERVERS, mcpServer, mcpServersForm)).optional(),
  files: dispatchFiles.optional(),
  repository: dispatchRepository
    .optional()
    .describe(
      "The task runs in a separate work tree of this repository, in which `files`, `metadata.cwd` and file outputs are. Default: the repository of agent.json, if it names one.",
    ),
  timeoutSeconds: timeoutSeconds
    .optional()
    .describe("Time limit from startedAt, without the time in which approvals are pending. Default: 600."),
  budget: dispatchBudget.optional(),
  outputStrategy: outputStrategy.optional().describe("Default: structured if outputSchema is given, else stream."),
  outputSchema: jsonObject.optional().describe('Short form of {"type": "structured", "schema": …}. At most 64 KiB as JSON.'),
  resumeToken: token(4096).optional().describe("Continues a session of the same tenant, provider and agent."),
  profile: z
    .enum(["inspect", "modify"])
    .optional()
    .describe("Whether the task may only read (inspect) or also edit files and run commands (modify)."),
  approvals: z
    .enum(["ask", "deny", "allow"])
    .optional()
    .describe("Response when the runtime requests approval of a tool call. Default: allow with modify, deny with inspect."),
  onInterrupt: z
    .enum(["fail", "retry"])
    .optional()
    .describe("What happens to the task if Bridge crashes or stops while it runs. retry runs it at most once more. Default: fail."),
  fallbacks: z
    .array(z.strictObject({ provider: token(128), model: token(256).optional().describe("Default: that of the runtime.") }))
    .max(MAX_FALLBACKS)
    .refine((fallbacks) => new Set(fallbacks.map(({ provider }) => provider)).size === fallbacks.length, "must name each provider once")
    .optional()
    .describe(
      "Other adapters, in their order, on which the task runs if its adapter is offline or cooling down, or if the vendor of its model rejects calls before the task has changed anything.",
    ),
  retry: z
    .strictObject({
      max: z.number().int().min(1).max(MAX_RETRIES),
      on: z.array(z.enum(["rate_limited", "model_error"])).min(1),
    })
    .optional()
    .describe("How often the adapter is tried again after these errors, before the task has changed anything. Default: never."),
  whenLimited: z
    .enum(["fail", "wait"])
    .optional()
    .describe(
      "What happens to the task if the vendor of its model rejects calls because of a usage limit. wait returns it to the queue until the limit is reset. Default: fail.",
    ),
  waitSeconds: z
    .number()
    .int()
    .min(1)
    .max(MAX_WAIT_SECONDS)
    .optional()
    .describe(`How long a task with whenLimited: wait may wait, in seconds. Default: ${DEFAULT_WAIT_SECONDS}, which is 6 hours.`),
  runsOn: z
    .array(z.string().regex(NODE_TAG, "must be 1 to 69 of A-Z a-z 0-9 . _ : -, and begin and end with a letter or digit"))
    .max(MAX_TAGS)
    .optional()
    .describe("Tags that the node which runs the task must have; node:<name> names one node. Default: any node."),
  callbackUrl: absoluteUrl().optional().describe("URL that receives the result. http or https, without user info."),
  callbackConversation: z.boolean().optional().describe("Include conversationMessages in the callback. Default: true."),
  labels: textRecord(MAX_LABELS, { name: labelName, text: labelValue })
    .optional()
    .describe("At most 16 labels, by which lists can be filtered: names of 1 to 63 characters with values of 1 to 128 characters."),
  metadata: metadata.optional().describe("Opaque data, returned unchanged. cwd: working directory of the task, relative to the workspace."),
};

const inputField = jsonObject.optional();

/**
 * Creates the schema of the body of a dispatch, with the inputs that adapters declare. It rejects unknown fields, so that typos do not go
 * unnoticed.
 */
export function createDispatchSchema(inputs: readonly AdapterInput[]) {
  const inputFields = describeInputs(inputs);
  const aliases: Record<string, typeof inputField> = Object.fromEntries(
    inputs.flatMap(({ alias }) => (alias === undefined ? [] : [[alias, inputField]])),
  );
  const workFields = ["message", ...Object.keys(inputFields), ...Object.keys(aliases)];
  const hasWork = (body: Record<string, unknown>): boolean => workFields.some((name) => body[name] !== undefined);
  return z.strictObject({ ...fields, ...inputFields, timeout: fields.timeoutSeconds, ...aliases }).refine(hasWork, {
    path: ["message"],
    error: "is required (string)",
    // Also runs if other fields have faults, so that all are reported together.
    when: ({ value }) => typeof value === "object" && value !== null,
  });
}
export type DispatchBody = z.infer<ReturnType<typeof createDispatchSchema>>;

/**
 * Creates the schema of the body for the API description. It describes the formats of tools and the lengths of lists. It omits aliases,
 * because generated clients would have two names for one field.
 */
export const createDescribedDispatchSchema = (inputs: readonly AdapterInput[]) =>
  z
    .strictObject({
      ...fields,
      ...describeInputs(inputs),
      message: fields.message.describe(`The prompt. Required, unless ${inputs.map(({ field }) => field).join(" or ")} is given.`),
      tools: z.array(toolSchema).max(MAX_TOOLS).optional().describe("Tools in OpenAI, Anthropic or MCP format."),
      mcpServers: z
        .array(mcpServer)
        .max(MAX_MCP_SERVERS)
        .optional()
        .describe("Commands must be in BRIDGE_MCP_COMMANDS. URLs must be public or in BRIDGE_CALLBACK_ALLOW."),
      files: describedDispatchFiles.optional(),
    })
    .meta({
      id: "Dispatch",
      description: "A task to run. Unknown fields are rejected.",
      // An override, because zod omits `examples` of schemas with transforms, such as the formats of a tool.
      override: { examples: [{ agentId: "auditor", message: "Count BRIDGE in *.md" }] },
    });

const describeInputs = (inputs: readonly AdapterInput[]): Record<InputField, typeof inputField> =>
  Object.fromEntries(inputs.map(({ field, description }) => [field, inputField.describe(description)]));

const isRelativePath = (text: string): boolean => text !== "" && !isAbsolute(text) && !text.includes("\0");

/** Returns the schema of a text whose length is measured in characters, not in UTF-16 units. */
function characters(minimum: number, maximum: number) {
  const fits = (text: string) => text.length >= minimum && (text.length <= maximum || countCharacters(text, maximum) <= maximum);
  return z
    .string()
    .refine(fits, { error: `must have ${minimum} to ${maximum} characters`, abort: true })
    .meta({ minLength: minimum, maxLength: maximum });
}

/** Counts code points, or UTF-16 units if the text is too long in either case. */
function countCharacters(text: string, maximum: number): number {
  if (text.length > 2 * maximum) return text.length;
  let count = text.length;
  // An iterator would allocate a string per character and take five times as long.
  for (let index = 1; index < text.length; index += 1) {
    if (!isSurrogate(text.charCodeAt(index - 1), 0xd800) || !isSurrogate(text.charCodeAt(index), 0xdc00)) continue;
    count -= 1;
    index += 1;
  }
  return count;
}

/** High surrogates begin at 0xD800, low ones at 0xDC00; there are 1,024 of each. */
const isSurrogate = (unit: number, first: number): boolean => unit >= first && unit < first + 1024;

function absoluteUrl() {
  return z
    .string()
    .max(8192, { abort: true })
    .refine((text) => !/[\p{Cc}\s]/u.test(text) && URL.canParse(text), "must be an absolute URL");
}

function rejectRepeatedNames<T extends { name: string }>(servers: z.ZodType<T[]>) {
  return servers.check((context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of context.value.entries()) {
      if (seen.has(name))
        context.issues.push({
          code: "custom",
          input: name,
          path: [index, "name"],
          message: "is the name of an earlier server; names must differ",
        });
      seen.add(name);
    }
  });
}
