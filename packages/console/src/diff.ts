/** One line of a diff. A number is null where the line does not exist. */
export interface DiffLine {
  kind: "hunk" | "added" | "removed" | "same" | "comment";
  oldNumber: number | null;
  newNumber: number | null;
  text: string;
}

/** The changes of one file. */
export interface DiffFile {
  path: string;
  /** What changed besides lines, for example `new file mode 100644`. */
  notes: string[];
  lines: DiffLine[];
}

/** The lines that were read, and the position of the first line that was not; null at the end. */
export interface ParsedDiff {
  files: DiffFile[];
  rest: number | null;
}

const SIGNS = { "+": "added", "-": "removed", " ": "same" } as const;
const NOTES = /^(?:new file|deleted file|old mode|new mode|Binary files)/;

/** Reads the first lines of a unified diff of git. The counts of a hunk decide what belongs to it, because any text can be in a file. */
export function parseDiff(text: string, maxLines: number): ParsedDiff {
  const files: DiffFile[] = [];
  let file: DiffFile = { path: "", notes: [], lines: [] };
  let [oldNumber, newNumber, oldLeft, newLeft] = [0, 0, 0, 0];

  function readLine(line: string): void {
    const kind = SIGNS[line[0] as keyof typeof SIGNS];
    if (oldLeft + newLeft > 0 && kind !== undefined) {
      const [isOld, isNew] = [kind !== "added", kind !== "removed"];
      file.lines.push({ kind, oldNumber: isOld ? oldNumber : null, newNumber: isNew ? newNumber : null, text: line.slice(1) });
      if (isOld) [oldNumber, oldLeft] = [oldNumber + 1, oldLeft - 1];
      if (isNew) [newNumber, newLeft] = [newNumber + 1, newLeft - 1];
    } else if (line.startsWith("\\")) file.lines.push({ kind: "comment", oldNumber: null, newNumber: null, text: line.slice(2) });
    else readHeader(line);
  }

  function readHeader(line: string): void {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk !== null) {
      [oldNumber, oldLeft, newNumber, newLeft] = [hunk[1], hunk[2] ?? 1, hunk[3], hunk[4] ?? 1].map(Number) as [
        number,
        number,
        number,
        number,
      ];
      file.lines.push({ kind: "hunk", oldNumber: null, newNumber: null, text: line });
    } else if (line.startsWith("diff --git ")) {
      [oldLeft, newLeft] = [0, 0];
      file = { path: readPath(line.slice("diff --git ".length)), notes: [], lines: [] };
      files.push(file);
    } else if (NOTES.test(line)) file.notes.push(line);
  }

  let start = 0;
  for (let count = 0; start < text.length; count += 1) {
    if (count === maxLines) return { files, rest: start };
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    readLine(text.slice(start, end));
    start = end + 1;
  }
  return { files, rest: null };
}

/** Both halves name the same file, because Bridge's diffs contain no renames. */
const readPath = (names: string): string => names.slice(0, (names.length - 1) / 2).replace(/^a\//, "");
