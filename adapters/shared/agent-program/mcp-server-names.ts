/**
 * Returns unique names of the MCP servers of a task for a program, in the order of the servers. Programs build tool
 * names from them, separated by `__`, so a name has only letters, digits, `-` and single `_` between them. `reserved`
 * are names that the program uses itself.
 */
export function mcpServerNames(servers: readonly { name: string }[], reserved: Iterable<string> = []): string[] {
  const taken = new Set(reserved);
  return servers.map(({ name }) => {
    const plain = name.replaceAll(/[^A-Za-z0-9-]+/g, "_").replaceAll(/^_|_$/g, "") || "server";
    let unique = plain;
    for (let number = 2; taken.has(unique); number += 1) unique = `${plain}_${number}`;
    taken.add(unique);
    return unique;
  });
}
