/** Formats a table in Markdown. A vertical bar in a cell would end it. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => "---"), ...rows.map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|")))];
  return `${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}
