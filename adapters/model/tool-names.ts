/** The longest name of a tool that every vendor takes. */
const MAX_LENGTH = 64;

/** Finds names for tools, of characters that every vendor takes, no two of them alike. */
export function createToolNames(reserved: Iterable<string>): (server: string, tool: string) => string {
  const taken = new Set(reserved);
  return (server, tool) => {
    const plain = `mcp__${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
    let name = plain.slice(0, MAX_LENGTH);
    for (let number = 2; taken.has(name); number += 1) name = `${plain.slice(0, MAX_LENGTH - 1 - String(number).length)}_${number}`;
    taken.add(name);
    return name;
  };
}
