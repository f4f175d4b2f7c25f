/**
 * Recognizes the names that programs give to declared tools: each program prefixes the tool's name with the server's in
 * its own way. The whole name is compared, because `inspect` depends on it, and a model can choose parts of other
 * titles. `serverName` has letters, digits, `-` and `_`.
 */
export function isDeclaredTool(serverName: string, toolNames: Iterable<string>): (programName: string) => boolean {
  const names = new Set(toolNames);
  const before = new RegExp(`^(?:mcp[_:.]{1,2})?${serverName}(?:_{1,2}|[.:])(.+)$`);
  const behind = new RegExp(`^(.+) \\(${serverName} MCP Server\\)$`);
  return (programName) => [before, behind].some((form) => names.has(form.exec(programName)?.[1] ?? ""));
}
