import { nameTask } from "../name-task.ts";
import type { Style } from "../output.ts";
import { showHidden } from "../show-hidden.ts";
import type { Run } from "../verb.ts";

/** Prints the changes of a task as a unified diff, which `git apply` reads. */
export const run: Run<object> = async ({ args: [taskId = ""], output, signal, connect }) => {
  const result = await nameTask(taskId, connect().client.files.diff(taskId, { signal }));
  if (output.format === "json") output.printJson(result);
  else if (output.format === "pipe") process.stdout.write(result.diff);
  else for (const line of result.diff.split("\n").slice(0, -1)) output.print(paintLine(line));
  if (result.truncated !== null) output.warn(`The diff is incomplete: ${result.truncated}.`);
  for (const path of result.omitted) output.warn(`Not compared, because it is too large: ${path}`);
  return undefined;

  function paintLine(line: string): string {
    const style = Object.entries(styles).find(([start]) => line.startsWith(start))?.[1];
    const text = showHidden(line);
    return style === undefined ? text : output.paint(style, text);
  }
};

const styles: Readonly<Record<string, Style>> = { "+++": "bold", "---": "bold", "diff ": "bold", "+": "green", "-": "red", "@@": "cyan" };
