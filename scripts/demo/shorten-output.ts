/** Lines that are left out: they repeat others, or matter only to those who run the demo. */
const OMITTED = [/"phase":"reading"/, / read_file /, / tool\.completed /, / assistant\.text /, /more tool events/, /^ {2}responded 204/];

/** Returns the lines of the demo from the dispatch to its repetition. One line with `…` stands for lines that are left out. */
export function shortenOutput(output: readonly string[]): string[] {
  const lines = output.slice(output.indexOf("Dispatch"), output.indexOf("What to try next"));
  return lines
    .map((line) => (OMITTED.some((pattern) => pattern.test(line)) ? "  …" : line))
    .filter((line, index, all) => line !== "  …" || (all[index - 1] !== "  …" && all[index + 1] !== ""))
    .join("\n")
    .trimEnd()
    .split("\n");
}
