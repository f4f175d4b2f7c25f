/**
 * The names under which programs know the MCP servers of a task, in the order of the servers. Names of tools are made of them, and `__` parts
 * these: so they hold letters, digits, `-` and single `_` within, and no two are alike. `reserved` are names that the program keeps to itself.
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
