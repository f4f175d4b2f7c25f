import { z } from "zod";
import type { LineReader, Step } from "../shared/agent-program/run-program.ts";
import { explainFailure } from "./failures.ts";
import { subAgentTools } from "./usage.ts";

/** What lines tell that the end of a task needs beside its steps. */
export interface CodexReader {
  read: LineReader;
  /** The id of the session; undefined until it is told. */
  readonly session: string | undefined;
  /** What the session has used in all but for its sub-agents, as it was told at the end of a turn that went well. */
  readonly sessionUsage: unknown;
  /** Sub-agents were set to work. */
  readonly delegated: boolean;
}

const itemSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  status: z.string().optional(),
  /** Of messages. */
  text: z.string().optional(),
  /** Of errors. */
  message: z.string().optional(),
  /** Of tools of MCP servers, and of sub-agents. */
  server: z.string().optional(),
  tool: z.string().optional(),
});
type Item = z.infer<typeof itemSchema>;
const errorSchema = z.object({ message: z.string() });
/** How a tool's work ends that was not done. */
const badEnds = ["failed", "declined"];

/** Reads what `codex exec --json` writes. A refused command leaves no line at all: that no tool is told proves nothing. */
export function createCodexReader(): CodexReader {
  let session: string | undefined;
  let sessionUsage: unknown;
  let delegated = false;
  /** The last message behind the last tool: what Codex says before it, on its way, is no answer. */
  let answer = "";

  const readItem = (line: string, item: Item): Step[] => {
    const done = line === "item.completed";
    if (item.type === "agent_message") {
      if (!done) return [];
      answer = item.text ?? "";
      return [{ kind: "text", text: answer }];
    }
    if (item.type === "todo_list") return [{ kind: "progress", data: { plan: item["items"] } }];
    // Here these are warnings.
    if (item.type === "error") return [{ kind: "progress", data: { warning: item.message } }];
    const tool = readTool(item);
    if (tool === null) return [];
    answer = "";
    delegated ||= subAgentTools.includes(tool.name);
    const invoked: Step = { kind: "tool.invoked", toolCallId: item.id, toolName: tool.name, input: tool.input };
    return done
      ? [invoked, { kind: "tool.completed", toolCallId: item.id, output: tool.output, isError: badEnds.includes(item.status ?? "") }]
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
      // Also tells of tries that may yet succeed; only a failed turn has failed.
      case "error":
        return [{ kind: "progress", data: { warning: line["message"] } }];
      case "turn.completed":
        sessionUsage = line["usage"];
        return [
          { kind: "known", facts: { output: answer, ...(session !== undefined && { resumeToken: session }) } },
          { kind: "ended", ending: { status: "ok" } },
        ];
      case "turn.failed":
        return [{ kind: "ended", ending: explainFailure(errorSchema.safeParse(line["error"]).data?.message ?? "the turn failed") }];
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
    get delegated() {
      return delegated;
    },
  };
}

/** The kinds of items that are tools, in the words of the contract; null for all others. */
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
