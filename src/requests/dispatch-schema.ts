import { isAbsolute } from "node:path";
import { z } from "zod";
import { NUL, noControlCharacters } from "./control-characters.ts";
import { describedDispatchFiles, dispatchFiles } from "./dispatch-files.ts";
import { jsonObject, listOf, textList, textRecord } from "./field-schemas.ts";
import { MAX_TOOLS, toolSchema } from "./normalize-tools.ts";

/** Each server is a connection or a process of the runtime; no runtime holds 100 of them for one task. */
const MAX_MCP_SERVERS = 100;
/** Maximum arguments, environment variables or headers of one MCP server, far more than usual. */
const MAX_MCP_ENTRIES = 1000;

/** A task's id, as a caller may choose it. */
export const taskIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_:-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 _ : -")
  .describe("The caller's idempotency key. Absent: the Idempotency-Key header, else Bridge makes one.");

const longText = (minimum: number) => characters(minimum, 1_000_000);
/** Reaches the runtime as an argument or a header, where control characters do harm. */
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

/** Most configuration files have an object of servers by name, so the error shows the form of a dispatch. */
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
      .meta({ id: "StructuredOutput", description: "JSON that fits a schema." }),
  ])
  .meta({ id: "OutputStrategy" });

const metadata = jsonObject.refine(({ cwd }) => cwd === undefined || (typeof cwd === "string" && isRelativePath(cwd)), {
  path: ["cwd"],
  error: "must be a path relative to the workspace",
});

/** How agents may be called: a name is a single path segment. */
export const agentIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

const fields = {
  taskId: taskIdSchema.optional(),
  provider: token(128).optional().describe("Adapter. May be left out when one is loaded, or agent.json names one."),
  agentId: z
    .string()
    .regex(agentIdPattern, "must be 1 to 128 of A-Z a-z 0-9 _ -")
    .describe("Names the workspace, and the agent on runtimes that have agents."),
  message: longText(1).optional().describe("The work. Required, unless bridgeInput or responderInput is given."),
  stdin: longText(0).optional().describe("Input of the work, appended in a labelled block."),
  systemPrompt: z.string().optional(),
  model: token(256).optional(),
  // Checked by normalizeTools, which knows the form that the caller meant.
  tools: listOf(MAX_TOOLS, z.unknown()).optional(),
  mcpServers: uniqueNames(listOf(MAX_MCP_SERVERS, mcpServer, mcpServersForm)).optional(),
  files: dispatchFiles.optional(),
  timeoutSeconds: timeoutSeconds.optional().describe("Counted from startedAt, approval waits excluded. Default: 600."),
  outputStrategy: outputStrategy.optional().describe("Default: structured when outputSchema is given, else stream."),
  outputSchema: jsonObject.optional().describe('Short for {"type": "structured", "schema": …}. At most 64 KiB as JSON.'),
  resumeToken: token(4096).optional().describe("Continues a session of the same tenant, provider and agent."),
  profile: z.enum(["inspect", "modify"]).optional().describe("May the task change project state?"),
  approvals: z
    .enum(["ask", "deny", "allow"])
    .optional()
    .describe("When the runtime asks before a tool call. Default: allow under modify, deny under inspect."),
  onInterrupt: z.enum(["fail", "retry"]).optional().describe("After a crash of Bridge. retry runs at most once more."),
  callbackUrl: absoluteUrl().optional().describe("Receives the result. http or https, no userinfo."),
  callbackConversation: z.boolean().optional().describe("Include conversationMessages in the callback. Default: true."),
  metadata: metadata.optional().describe("Opaque, returned as it came. cwd: where the task runs, relative to the workspace."),
  bridgeInput: jsonObject
    .optional()
    .describe("What a council is asked: scope, task_description, task_type, domains and more, as in docs/council.md."),
  responderInput: jsonObject
    .optional()
    .describe("What the responder is asked: tool, describe, materials and more, as in docs/responder.md."),
};

/** Other names of fields. They are accepted and not described: a client generated from the description would have one field under two names. */
const aliases = { timeout: fields.timeoutSeconds, bridge_input: fields.bridgeInput };

/** The body of a dispatch; unknown fields are refused, so that a typo never passes silently. */
export const dispatchBodySchema = z.strictObject({ ...fields, ...aliases }).refine(hasWork, {
  path: ["message"],
  error: "is required (string)",
  // Told together with the other faults, not only when there are none.
  when: ({ value }) => typeof value === "object" && value !== null,
});
export type DispatchBody = z.infer<typeof dispatchBodySchema>;

/** The same for the description of the API, which spells out the forms of a tool and the lengths of lists, and omits aliases. */
export const describedDispatchSchema = z
  .strictObject({
    ...fields,
    tools: z.array(toolSchema).max(MAX_TOOLS).optional().describe("OpenAI function form, Anthropic form or MCP form."),
    mcpServers: z
      .array(mcpServer)
      .max(MAX_MCP_SERVERS)
      .optional()
      .describe("Stdio commands only from BRIDGE_MCP_COMMANDS; URLs pass the callback guard."),
    files: describedDispatchFiles.optional(),
  })
  .meta({
    id: "Dispatch",
    description: "A task to run. Unknown fields are rejected.",
    // As `examples` zod would omit it: the forms of a tool are transformed, and an example might be meant for what comes out.
    override: { examples: [{ agentId: "auditor", message: "Count BRIDGE in *.md" }] },
  });

function hasWork({ message, bridgeInput, bridge_input: snakeBridgeInput, responderInput }: Record<string, unknown>): boolean {
  return [message, bridgeInput, snakeBridgeInput, responderInput].some((work) => work !== undefined);
}

const isRelativePath = (text: string): boolean => text !== "" && !isAbsolute(text) && !text.includes("\0");

/** A text measured in characters, not in UTF-16 units. */
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
  // By index: an iterator makes a string of each character, and takes five times as long.
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

function uniqueNames<T extends { name: string }>(servers: z.ZodType<T[]>) {
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
