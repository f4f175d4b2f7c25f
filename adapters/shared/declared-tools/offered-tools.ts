import type { McpServerSpec } from "#contract";

/** The declared tools of one task as its program sees them. They are also one of the MCP servers of its request. */
export interface OfferedTools {
  /** The server for programs that support MCP over HTTP; the same as in the request. */
  http: McpServerSpec;
  /** The same server for programs that support only MCP servers over stdio. */
  stdio: McpServerSpec;
  /** True if a tool, by the name that the program gives it, is a declared one. */
  includes(toolName: string): boolean;
  /** Must be called when the program writes something: Bridge does not end the turn while the program writes. */
  noteOutput(): void;
}
