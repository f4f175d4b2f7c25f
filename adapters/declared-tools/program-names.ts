/**
 * Tells the names that programs give the declared tools: they put the name of the server before that of the tool, each in its own way. All of the name is
 * compared, because under `inspect` it decides, and a model may choose what stands in other titles. `serverName` has letters, digits, `-` and `_`.
 */
export function isDeclaredTool(serverName: string, toolNames: Iterable<string>): (programName: string) => boolean {
  const names = new Set(toolNames);
  const before = new RegExp(`^(?:mcp[_:.]{1,2})?${serverName}(?:_{1,2}|[.:])(.+)$`);
  const behind = new RegExp(`^(.+) \\(${serverName} MCP Server\\)$`);
  return (programName) => [before, behind].some((form) => names.has(form.exec(programName)?.[1] ?? ""));
}
