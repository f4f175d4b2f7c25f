import { randomUUID } from "node:crypto";
import type { Call, Conversation, OfferedTool, Runtime } from "./conversation.ts";
import type { Tool } from "./scenarios.ts";

/** A tool of a runtime: its name and the format of its input. */
interface Form<Kind extends Tool["kind"]> {
  name: string;
  input(tool: Extract<Tool, { kind: Kind }>): Call["input"];
}

/** An internal request is recognized by its system prompt if it has no tools, or by the beginning of its last message. */
type Housekeeping = { system: RegExp; answer: string } | { message: RegExp; answer: string };

interface Profile {
  /** Beginnings of texts that the runtime writes in messages of the user. */
  ownTexts: RegExp;
  /** Text that it appends to the user's message. */
  ownTail?: RegExp;
  /** The internal requests of a runtime, and their expected answers. */
  housekeeping: Housekeeping[];
  /** The names of each tool, the usual one first. The model calls that one even if it is not offered, as a hostile model would. */
  shell: Form<"shell">[];
  write: Form<"write">[];
  read: Form<"read">[];
  mcpName(server: string, tool: string): string;
}

const profiles: Record<Runtime, Profile> = {
  claude: {
    ownTexts: /^<system-reminder>/,
    housekeeping: [
      { system: /^You are naming a coding session/m, answer: '{"title":"Scripted title"}' },
      { message: /^\[SUGGESTION MODE:/, answer: "Go on" },
    ],
    shell: [{ name: "Bash", input: ({ command }) => ({ command, description: "Runs a command" }) }],
    write: [{ name: "Write", input: ({ path, content }) => ({ file_path: path, content }) }],
    read: [{ name: "Read", input: ({ path }) => ({ file_path: path }) }],
    mcpName: (server, tool) => `mcp__${server}__${tool}`,
  },
  codex: {
    ownTexts: /^(<environment_context>|<user_instructions>|# AGENTS\.md instructions)/,
    housekeeping: [{ message: /^Your task is to generate a very short title/, answer: '{"title":"Scripted title"}' }],
    shell: [
      { name: "exec_command", input: ({ command }) => ({ cmd: command }) },
      { name: "shell_command", input: ({ command }) => ({ command }) },
      { name: "shell", input: ({ command }) => ({ command: ["bash", "-c", command] }) },
    ],
    write: [
      { name: "apply_patch", input: ({ path, content }) => addFilePatch(path, content) },
      // Codex offers no patch tool to models that it does not know. Its shell accepts patches.
      { name: "exec_command", input: ({ path, content }) => ({ cmd: `apply_patch <<'PATCH'\n${addFilePatch(path, content)}PATCH` }) },
    ],
    read: [{ name: "exec_command", input: ({ path }) => ({ cmd: `cat '${path}'` }) }],
    mcpName: (server, tool) => `mcp__${server}__${tool}`,
  },
  gemini: {
    ownTexts: /^<session_context>/,
    housekeeping: [{ system: /You are a specialized Task Routing AI/, answer: '{"complexity_reasoning":"Scripted","complexity_score":1}' }],
    shell: [{ name: "run_shell_command", input: ({ command }) => ({ command }) }],
    write: [{ name: "write_file", input: ({ path, content }) => ({ file_path: path, content }) }],
    read: [{ name: "read_file", input: ({ path }) => ({ file_path: path }) }],
    mcpName: (server, tool) => `mcp_${server}_${tool}`,
  },
  opencode: {
    ownTexts: /^<system-reminder>/,
    housekeeping: [{ system: /^You are a title generator/, answer: "Scripted title" }],
    shell: [{ name: "bash", input: ({ command }) => ({ command, description: "Runs a command" }) }],
    write: [{ name: "write", input: ({ path, content }) => ({ filePath: path, content }) }],
    read: [{ name: "read", input: ({ path }) => ({ filePath: path }) }],
    mcpName: (server, tool) => `${server}_${tool}`,
  },
  openclaw: {
    ownTexts: /^<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>/,
    ownTail: /\n\nRuntime: agent=[^\n]*$/,
    housekeeping: [],
    shell: [{ name: "exec", input: ({ command }) => ({ command }) }],
    write: [{ name: "write", input: ({ path, content }) => ({ path, content }) }],
    read: [{ name: "read", input: ({ path }) => ({ path }) }],
    mcpName: (server, tool) => `${server}__${tool}`,
  },
  qwen: {
    ownTexts: /^<(session_context|system-reminder)>/,
    housekeeping: [],
    shell: [{ name: "run_shell_command", input: ({ command }) => ({ command, is_background: false }) }],
    write: [{ name: "write_file", input: ({ path, content }) => ({ file_path: path, content }) }],
    read: [{ name: "read_file", input: ({ path }) => ({ file_path: path }) }],
    mcpName: (server, tool) => `mcp__${server}__${tool}`,
  },
};

/**
 * The runtime of a request: OpenCode uses every protocol, OpenClaw and Qwen Code send their names, each other runtime has a distinct
 * protocol.
 */
export function recogniseRuntime(userAgent: string | undefined, own: Runtime): Runtime {
  const named = /opencode|openclaw|qwen/i.exec(userAgent ?? "")?.[0].toLowerCase();
  return (named as Runtime | undefined) ?? own;
}

/** Returns whether the runtime itself wrote this text in a message of the user. */
export function isOwnText(runtime: Runtime, text: string): boolean {
  return profiles[runtime].ownTexts.test(text);
}

/** Returns the user's part of a text, without what the runtime appended. */
export function withoutOwnTail(runtime: Runtime, text: string): string {
  const { ownTail } = profiles[runtime];
  return ownTail === undefined ? text : text.replace(ownTail, "");
}

/** The answer to an internal request of a runtime; null for a request that belongs to the task. */
export function housekeepingAnswer({ runtime, tools, system, turns }: Conversation): string | null {
  const last = turns.at(-1);
  const message = last?.role === "user" ? last.text : "";
  const found = profiles[runtime].housekeeping.find((one) =>
    "system" in one ? tools.length === 0 && one.system.test(system) : one.message.test(message),
  );
  return found?.answer ?? null;
}

/** Converts an abstract tool to the tool of the runtime, depending on the tools that this request offers. */
export function translateTool(tool: Tool, runtime: Runtime, offered: OfferedTool[]): Call {
  const id = tool.id ?? `call_${randomUUID().replaceAll("-", "")}`;
  if (tool.kind === "raw") return { id, ...named(tool.name, offered), input: tool.input };
  if (runtime === "codex" && offered.some(({ name }) => name === "exec")) return { id, ...named("exec", offered), input: program(tool) };
  if (tool.kind === "mcp") return { id, ...mcpNamed(tool, runtime, offered), input: tool.input };
  const { name, input } = form(tool, profiles[runtime], offered);
  return { id, ...named(name, offered), input };
}

function form(tool: Extract<Tool, { kind: "shell" | "write" | "read" }>, profile: Profile, offered: OfferedTool[]) {
  const forms = profile[tool.kind] as Form<typeof tool.kind>[];
  const chosen = forms.find(({ name }) => offered.some((one) => one.name === name)) ?? forms[0];
  if (chosen === undefined) throw new Error(`No form for ${tool.kind}.`);
  return { name: chosen.name, input: chosen.input(tool as never) };
}

/** The models that Codex uses by default get one tool, which runs JavaScript programs that call the other tools. */
function program(tool: Exclude<Tool, { kind: "raw" }>): string {
  if (tool.kind === "mcp") return `text(await tools.mcp__${tool.server}__${tool.tool}(${JSON.stringify(tool.input)}));`;
  if (tool.kind === "write") return `text(await tools.apply_patch(${JSON.stringify(addFilePatch(tool.path, tool.content))}));`;
  const command = tool.kind === "shell" ? tool.command : `cat '${tool.path}'`;
  return `text(await tools.exec_command(${JSON.stringify({ cmd: command })}));`;
}

function named(name: string, offered: OfferedTool[]): Pick<Call, "name" | "namespace"> {
  const namespace = offered.find((tool) => tool.name === name)?.namespace;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Codex groups the tools of one MCP server in a namespace. */
function mcpNamed({ server, tool }: { server: string; tool: string }, runtime: Runtime, offered: OfferedTool[]) {
  const name = profiles[runtime].mcpName(server, tool);
  const grouped = offered.find((one) => one.namespace !== undefined && one.name === tool && `${one.namespace}__${tool}` === name);
  return grouped?.namespace === undefined ? { name } : { name: tool, namespace: grouped.namespace };
}

function addFilePatch(path: string, content: string): string {
  const lines = content.replace(/\n$/, "").split("\n");
  return `*** Begin Patch\n*** Add File: ${path}\n${lines.map((line) => `+${line}`).join("\n")}\n*** End Patch\n`;
}
