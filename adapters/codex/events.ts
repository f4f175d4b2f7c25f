import { z } from "zod";
import type { LineReader, Step } from "../shared/agent-program/run-program.ts";
import { explainFailure } from "./failures.ts";
import { SUB_AGENT_TOOLS } from "./usage.ts";

/** Reads the JSON lines of one task and keeps what its result needs. */
export interface CodexReader {
  read: LineReader;
  /** The session id; undefined until Codex reports it. */
  readonly session: string | undefined;
  /** Total usage of the session without sub-agents, as Codex reports it at the end of a successful turn. */
  readonly sessionUsage: unknown;
  /** Whether the task used sub-agents. */
  readonly hasSubAgents: boolean;
}

const itemSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  status: z.string().optional(),
  /** Field of messages. */
  text: z.string().optional(),
  /** Field of errors. */
  message: z.string().optional(),
  /** Fields of MCP tools and of sub-agents. */
  server: z.string().optional(),
  tool: z.string().optional(),
});
type Item = z.infer<typeof itemSchema>;
const errorSchema = z.object({ message: z.string() });
/** Statuses of tool calls that did not succeed. */
const FAILED_STATUSES = ["failed", "declined"];

/** Creates the reader for the output of `codex exec --json`. Codex prints no line for a command that its sandbox policy forbids. */
export function createCodexReader(): CodexReader {
  let session: string | undefined;
  let sessionUsage: unknown;
  let hasSubAgents = false;
  /** The last message after the last tool call; earlier messages are not part of the answer. */
  let answer = "";

  const readItem = (lineType: string, item: Item): Step[] => {
    const done = lineType === "item.completed";
    if (item.type === "agent_message") {
      if (!done) return [];
      answer = item.text ?? "";
      return [{ kind: "text", text: answer }];
    }
    if (item.type === "todo_list") return [{ kind: "progress", data: { plan: item["items"] } }];
    // Items of this type are warnings.
    if (item.type === "error") return [{ kind: "progress", data: { warning: item.message } }];
    const tool = readTool(item);
    if (tool === null) return [];
    answer = "";
    hasSubAgents ||= SUB_AGENT_TOOLS.includes(tool.name);
    const invoked: Step = { kind: "tool.invoked", toolCallId: item.id, toolName: tool.name, input: tool.input };
    return done
      ? [
          invoked,
          { kind: "tool.completed", toolCallId: item.id, output: tool.output, isError: FAILED_STATUSES.includes(item.status ?? "") },
        ]
      : [invoked];
  };

  const read: LineReader = (line) => {
    switch (line["type"]) {
      case "thread.started":
        session = z.string().safeParse(line["thread_id"]).data;
        return [];
      case "item.started":
      case "item.updated":
      case "item.completed": {
        const item = itemSchema.safeParse(line["item"]).data;
        return item === undefined ? [] : readItem(line["type"], item);
      }
      // Codex also reports errors that it retries; only `turn.failed` fails the task.
      case "error":
        return [{ kind: "progress", data: { warning: line["message"] } }];
      case "turn.completed":
        sessionUsage = line["usage"];
        return [
          { kind: "facts", facts: { output: answer, ...(session !== undefined && { resumeToken: session }) } },
          { kind: "ended", outcome: { status: "ok" } },
        ];
      case "turn.failed":
        return [{ kind: "ended", outcome: explainFailure(errorSchema.safeParse(line["error"]).data?.message ?? "the turn failed") }];
      default:
        return [];
    }
  };
  return {
    read,
    get session() {
      return session;
    },
    get sessionUsage() {
      return sessionUsage;
    },
    get hasSubAgents() {
      return hasSubAgents;
    },
  };
}

/** Converts an item to a tool call; null if the item is not a tool call. */
function readTool(item: Item): { name: string; input: unknown; output: unknown } | null {
  switch (item.type) {
    case "command_execution":
      return { name: "shell", input: { command: item["command"] }, output: item["aggregated_output"] };
    case "file_change":
      return { name: "apply_patch", input: { changes: item["changes"] }, output: item.status };
    case "mcp_tool_call": {
      const output = item["result"] ?? item["error"];
      return { name: `mcp__${item.server}__${item.tool}`, input: item["arguments"], output };
    }
    case "web_search":
      return { name: "web_search", input: { query: item["query"] }, output: null };
    case "collab_tool_call": {
      const { id: _, type, tool, status, agents_states: output, ...input } = item;
      return { name: tool ?? type, input, output: output ?? status };
    }
    default:
      return null;
  }
}
