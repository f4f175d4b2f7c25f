/**
 * Returns unique names for the MCP servers of a task, in the order of the servers. Programs build tool names from them with
 * `__` as the separator, so a name contains only letters, digits and `-`, and single `_` between these. `reserved` are
 * names that the program uses itself.
 */
export function nameMcpServers(servers: readonly { name: string }[], reserved: Iterable<string> = []): string[] {
  const taken = new Set(reserved);
  return servers.map(({ name }) => {
    const plain = name.replaceAll(/[^A-Za-z0-9-]+/g, "_").replaceAll(/^_|_$/g, "") || "server";
    let unique = plain;
    for (let number = 2; taken.has(unique); number += 1) unique = `${plain}_${number}`;
    taken.add(unique);
    return unique;
  });
}
