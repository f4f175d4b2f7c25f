import type { McpServerSpec } from "#contract";

/** The declared tools of one task, as an MCP server for its program. The request contains this server, too. */
export interface OfferedTools {
  /** The server for programs that support MCP over HTTP; the same as in the request. */
  http: McpServerSpec;
  /** The same server for programs that support only MCP servers over stdio. */
  stdio: McpServerSpec;
  /** Returns whether a tool is a declared one. `toolName` is the name that the program reports. */
  includes(toolName: string): boolean;
  /** Must be called when the program writes something: Bridge does not end the turn while the program writes. */
  noteOutput(): void;
}
