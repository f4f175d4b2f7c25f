import type { McpServerSpec } from "#contract";

/** The declared tools of one task as its program gets to know them: they are also one of the MCP servers of its request. */
export interface OfferedTools {
  /** The server for programs that reach MCP servers over HTTP: the one in the request. */
  http: McpServerSpec;
  /** The same server for programs that only start MCP servers. */
  stdio: McpServerSpec;
  /** Is a tool, by the name that a program gives it, one of these? */
  includes(toolName: string): boolean;
  /** The program is at work: it has written something. The turn is not ended while it writes. */
  heard(): void;
}
