/**
 * Returns a function that recognizes the names that programs give to declared tools. Each program combines the name of
 * the tool with that of the server in its own way. The whole name is compared, because a task with `inspect` may call
 * declared tools, and a model can choose parts of the titles of other tools. `serverName` has letters, digits, `-` and
 * `_`.
 */
export function createDeclaredToolMatcher(serverName: string, toolNames: Iterable<string>): (programName: string) => boolean {
  const names = new Set(toolNames);
  const prefixed = new RegExp(`^(?:mcp[_:.]{1,2})?${serverName}(?:_{1,2}|[.:])(.+)$`);
  const suffixed = new RegExp(`^(.+) \\(${serverName} MCP Server\\)$`);
  return (programName) => [prefixed, suffixed].some((form) => names.has(form.exec(programName)?.[1] ?? ""));
}
