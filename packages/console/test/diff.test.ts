import { expect, test } from "vitest";
import { parseDiff } from "../src/diff.ts";

const diff = [
  ...["diff --git a/src/a b.ts b/src/a b.ts", "index 1..2 100644", "--- a/src/a b.ts", "+++ b/src/a b.ts"],
  ...["@@ -1,3 +1,3 @@ function", " same", "--- a/looks like a header", "+++ b/looks like a header", " ", "\\ No newline at end of file"],
  ...["@@ -10 +10,2 @@", "-x", "+diff --git a/x b/x", "+@@ -1 +1 @@"],
  ...["diff --git a/new b/new", "new file mode 100644", "index 0..1", "Binary files /dev/null and b/new differ", ""],
].join("\n");

test("a diff is read into files with numbered lines, whatever text the lines contain", () => {
  const { files, rest } = parseDiff(diff, 100);
  expect(rest).toBeNull();
  expect(files.map(({ path, notes }) => [path, notes])).toEqual([
    ["src/a b.ts", []],
    ["new", ["new file mode 100644", "Binary files /dev/null and b/new differ"]],
  ]);
  expect(files[0]?.lines.map(({ kind, oldNumber, newNumber, text }) => [kind, oldNumber, newNumber, text])).toEqual([
    ["hunk", null, null, "@@ -1,3 +1,3 @@ function"],
    ["same", 1, 1, "same"],
    ["removed", 2, null, "-- a/looks like a header"],
    ["added", null, 2, "++ b/looks like a header"],
    ["same", 3, 3, ""],
    ["comment", null, null, "No newline at end of file"],
    ["hunk", null, null, "@@ -10 +10,2 @@"],
    ["removed", 10, null, "x"],
    ["added", null, 10, "diff --git a/x b/x"],
    ["added", null, 11, "@@ -1 +1 @@"],
  ]);
});

test("only the wanted number of lines is read", () => {
  const { files, rest } = parseDiff(diff, 7);
  expect(files[0]?.lines).toHaveLength(3);
  expect(diff.slice(rest ?? 0)).toMatch(/^\+\+\+ b\/looks like a header\n/);
});

test("text that is no diff, and a diff that was cut anywhere, are read without an error", () => {
  expect(parseDiff("+a\n-b\n\\\n@@ x\n", 100)).toEqual({ files: [], rest: null });
  for (let length = 0; length < diff.length; length += 1) expect(parseDiff(diff.slice(0, length), 100).rest).toBeNull();
});
