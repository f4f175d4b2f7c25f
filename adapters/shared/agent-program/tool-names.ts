/** Maximum length of a tool name that all vendors accept. */
const MAX_LENGTH = 64;

/** Creates a function that converts tool names to unique names that all vendors accept and that are not `reserved`. */
export function createToolNamer(reserved: Iterable<string> = [], maxLength = MAX_LENGTH): (name: string) => string {
  const taken = new Set(reserved);
  return (original) => {
    const plain = original.replaceAll(/[^A-Za-z0-9_-]/g, "_");
    let name = plain.slice(0, maxLength);
    for (let number = 2; taken.has(name); number += 1) name = `${plain.slice(0, maxLength - 1 - String(number).length)}_${number}`;
    taken.add(name);
    return name;
  };
}
