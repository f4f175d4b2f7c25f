import { diffBytes } from "../diff-bytes.ts";
import { showName } from "../show-hidden.ts";
import { paint, type Style, type Text } from "../text.ts";
import type { Run } from "../verb.ts";
import { withTaskId } from "../with-task-id.ts";

/** Prints the changes of a task as a unified diff, which `git apply` reads. */
export const run: Run<object> = async ({ args: [taskId = ""], output, signal, connect }) => {
  const { client } = connect();
  const result = await withTaskId(taskId, { client, signal }, (id) => client.files.diff(id, { signal }));
  if (output.format === "json") output.printJson(result);
  else if (output.format === "pipe") await output.writeFile([diffBytes(result)]);
  else for (const line of paintDiff(result.diff)) output.print(line);
  if (result.truncated !== null) output.warn(`The diff is incomplete: ${result.truncated}.`);
  if (typeof result.diffBase64 === "string" && output.format === "terminal")
    output.warn("Bytes that are not UTF-8 are shown as \ufffd. A pipe and brg apply get the exact bytes.");
  for (const name of result.omitted) output.warn(`Not compared, because it is too large: ${showName(name)}`);
  return undefined;
};

const HEADER_STYLES: Readonly<Record<string, Style>> = { "+++": "bold", "---": "bold", "diff ": "bold", "@@": "cyan" };
const LINE_STYLES: Readonly<Record<string, Style>> = { "+": "green", "-": "red" };

/** The counts of a hunk decide which lines belong to it: a file can contain a line that looks like the header of another file. */
function paintDiff(diff: string): Text[] {
  let [oldLines, newLines] = [0, 0];
  return diff
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      if (oldLines > 0 || newLines > 0) {
        if (/^[ -]/.test(line)) oldLines -= 1;
        if (/^[ +]/.test(line)) newLines -= 1;
        return paint(LINE_STYLES[line.slice(0, 1)] ?? null, line);
      }
      const [, oldCount, newCount] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? [];
      if (line.startsWith("@@ ")) [oldLines, newLines] = [Number(oldCount ?? 1), Number(newCount ?? 1)];
      return paint(Object.entries(HEADER_STYLES).find(([start]) => line.startsWith(start))?.[1] ?? null, line);
    });
}
