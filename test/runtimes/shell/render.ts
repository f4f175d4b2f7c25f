import { benchRuntimes } from "../table/runtimes.ts";
import { columns } from "./columns.ts";
import { commands, titleOf } from "./commands.ts";
import { exceptionTo } from "./exceptions.ts";
import type { Rights } from "./expectation.ts";
import type { ShellResult, Sight } from "./results.ts";

/** The settings of a task, in the order in which a cell shows them; `inspect` is one setting for every value of `approvals`. */
const groups: readonly Rights["approvals"][] = ["deny", "ask", "allow"];
const signs: Record<Sight, string> = { asked: "?", ran: "✓", stopped: "–", refused: "·" };

/** The name of a cell in the results. */
export const nameOf = ({ profile, approvals }: Rights): string => `${profile}, ${approvals}`;

/** The table of commands x runtimes: in each cell `inspect`, then `modify` with `deny`, `ask` and `allow`. Pure. */
export function renderCommands(results: readonly ShellResult[]): string {
  const cellsOf = columns.map(({ runtime, connection }) =>
    results.find((result) => result.runtime === runtime && result.connection === connection),
  );
  const signOf = (result: ShellResult | undefined, profile: Rights["profile"], title: string) =>
    groups.map((approvals) => signs[result?.cells[nameOf({ profile, approvals })]?.[title] as Sight] ?? "✗");
  const cell = (result: ShellResult | undefined, title: string): string => {
    const inspected = new Set(signOf(result, "inspect", title).filter((sign) => sign !== signs.refused));
    return [inspected.size === 1 ? [...inspected].join() : "✗", ...signOf(result, "modify", title)].join(" ");
  };
  const heads = columns.map(({ runtime, connection }, index) => {
    const { title, through } = benchRuntimes[runtime];
    const name = [title, through?.[connection]].filter(Boolean).join(" by ");
    return `${name} ${cellsOf[index]?.version ?? ""}<br>\`${connection}\``;
  });
  const notes: string[] = [];
  const noteOf = (column: (typeof columns)[number], command: (typeof commands)[number]): string => {
    const reason = exceptionTo(column, command);
    if (reason === undefined) return "";
    if (!notes.includes(reason)) notes.push(reason);
    return ` (${notes.indexOf(reason) + 1})`;
  };
  const rows = commands.map((command) => [
    titleOf(command),
    ...columns.map((column, index) => cell(cellsOf[index], titleOf(command)) + noteOf(column, command)),
  ]);
  const lines = [["", ...heads], ["---", ...columns.map(() => ":-:")], ...rows].map((row) => `| ${row.join(" | ")} |`);
  return [...lines, "", ...notes.map((note, index) => `${index + 1}. ${note}`)].join("\n");
}
