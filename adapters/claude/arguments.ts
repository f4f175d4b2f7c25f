import type { ExecutionRequest, McpServerSpec } from "#contract";
import { mcpServerNames } from "../program/mcp-server-names.ts";

/** Files that hold what an argument list must not: other users of the machine can read it, and one argument ends at 128 KiB. */
export interface TaskFiles {
  systemPrompt: string;
  mcpConfig: string;
}

/** The longest JSON Schema that fits into an argument. */
const SCHEMA_LIMIT_BYTES = 100 * 1024;

const readingTools = ["Glob", "Grep", "Read"];
const changingTools = ["Agent", "Bash", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Write"];
/** Of these Claude Code asks before it uses them, each time or for most uses. */
const askingTools = ["Bash", "WebFetch", "WebSearch"];

type Rights = Pick<ExecutionRequest, "profile" | "approvals" | "mcpServers">;

/** The built-in tools that exist in a task. To inspect there are none that could change anything. */
export const toolsFor = ({ profile }: Rights): string[] =>
  profile === "inspect" ? readingTools : [...changingTools, ...readingTools].sort();

/**
 * The tools that are used without asking. Whoever names an MCP server in a dispatch wants it used, unless nothing may change:
 * nobody can tell what a server's tools do.
 */
export function allowedTools({ profile, approvals, mcpServers = [] }: Rights): string[] {
  if (profile === "inspect") return [];
  return [...(approvals === "allow" ? askingTools : []), ...serverNames(mcpServers).map((name) => `mcp__${name}`)];
}

/** Flags that any start of the program needs, over whatever connection: a key without a value is a switch. */
export function commonFlags(request: ExecutionRequest, files: TaskFiles): Record<string, string | null> {
  return {
    // The file tools stay inside the task's directory, also by links; settings files and all that comes with them are ignored.
    restricted: null,
    // The system prompt of this dispatch counts, not the one with which the session began.
    "system-prompt-snapshot": "off",
    ...((request.mcpServers ?? []).length === 0 ? {} : { "mcp-config": files.mcpConfig }),
  };
}

/** The arguments of `claude` for a task; the prompt comes by stdin. Values are tied to their flags, so that none can be taken for another flag. */
export function claudeArguments(request: ExecutionRequest, files: TaskFiles, schema = nativeSchema(request)): string[] {
  const { model, systemPrompt, resumeToken, profile } = request;
  const allowed = allowedTools(request);
  return [
    ...["-p", "--output-format=stream-json", "--verbose", "--include-partial-messages"],
    ...["--setting-sources=", "--strict-mcp-config", "--permission-prompts=none"],
    ...Object.entries(commonFlags(request, files)).map(([flag, value]) => (value === null ? `--${flag}` : `--${flag}=${value}`)),
    `--tools=${toolsFor(request).join(",")}`,
    `--permission-mode=${profile === "inspect" ? "dontAsk" : "acceptEdits"}`,
    ...(allowed.length === 0 ? [] : [`--allowedTools=${allowed.join(",")}`]),
    ...(systemPrompt === undefined ? [] : [`--append-system-prompt-file=${files.systemPrompt}`]),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(resumeToken === undefined ? [] : [`--resume=${resumeToken}`]),
    ...(schema === null ? [] : [`--json-schema=${schema}`]),
  ];
}

/** The schema for the program's own structured output; null where Bridge is to read the text. */
export function nativeSchema({ outputStrategy }: Pick<ExecutionRequest, "outputStrategy">): string | null {
  if (outputStrategy.type !== "structured" || !isTaken(outputStrategy.schema)) return null;
  const schema = JSON.stringify(outputStrategy.schema);
  return Buffer.byteLength(schema) > SCHEMA_LIMIT_BYTES ? null : schema;
}

/** Claude Code takes draft 7 alone. It makes the input of a tool of the schema, which for the vendor is an object without alternatives. */
function isTaken({ $schema, type, anyOf, oneOf, allOf }: Record<string, unknown>): boolean {
  return (
    type === "object" && [anyOf, oneOf, allOf].every((alternatives) => alternatives === undefined) && !/2020-12/.test(String($schema ?? ""))
  );
}

/** Claude Code puts variables of its environment into a server's values: this one keeps a `$` what it is. */
export const dollarVariable = { BRIDGE_DOLLAR: "$" } as const;

/** Servers of these names Claude Code takes for parts of its own, and leaves out without a word. */
const reservedNames = ["ide", "workspace", "claude-in-chrome", "computer-use"];

const serverNames = (servers: readonly McpServerSpec[]): string[] => mcpServerNames(servers, reservedNames);

/** The file of the MCP servers. */
export function mcpConfig(servers: readonly McpServerSpec[]): string {
  const names = serverNames(servers);
  const entries = servers.map(({ name: _, transport, ...spec }, index) => [
    names[index],
    { type: transport, ...(literal(spec) as object) },
  ]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

function literal(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(/\$(?=\{)/g, "$${BRIDGE_DOLLAR}");
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner)]));
}
