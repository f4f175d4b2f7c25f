import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { findSecretDirectories } from "../../../../adapters/shared/process/secret-directories.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

interface Layout {
  files?: string[];
  links?: Record<string, string>;
  file: string;
}

test.each<[string, Layout, (string | null)[][]]>([
  ["a plain file", { files: ["conf/tokens"], file: "conf/tokens" }, [["conf", "tokens", null]]],
  ["a file that does not exist", { file: "conf/tokens" }, [["conf", "tokens", null]]],
  [
    "a link to a file",
    { files: ["vault/tokens-1"], links: { "conf/tokens": "../vault/tokens-1" }, file: "conf/tokens" },
    [
      ["conf", "tokens", null],
      ["vault", "tokens-1", null],
    ],
  ],
  [
    "a link on the way",
    { files: ["releases/1/conf/tokens"], links: { current: "releases/1" }, file: "current/conf/tokens" },
    [
      ["", null, null],
      ["releases", null, "conf/tokens"],
      ["releases/1/conf", "tokens", null],
    ],
  ],
  [
    "a secret of Kubernetes",
    { files: ["secret/..2026/tokens"], links: { "secret/..data": "..2026", "secret/tokens": "..data/tokens" }, file: "secret/tokens" },
    [
      ["secret", "tokens", null],
      ["secret", null, null],
      ["secret", null, "tokens"],
      ["secret/..2026", "tokens", null],
    ],
  ],
])("the directories that decide which file a path names are found for %s", async (_what, { files = [], links = {}, file }, expected) => {
  const root = await temporaryDirectory();
  for (const name of [...files, ...Object.keys(links)]) mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  for (const name of files) writeFileSync(path.join(root, name), "");
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
  const found = findSecretDirectories(path.join(root, file)).filter(({ directory }) => directory.startsWith(root));
  expect(found.map(({ directory, name, pathBelow }) => [path.relative(root, directory), name, pathBelow])).toEqual(expected);
});

test("a loop of links ends after the maximum number of links", async () => {
  const root = await temporaryDirectory();
  symlinkSync("b", path.join(root, "a"));
  symlinkSync("a", path.join(root, "b"));
  expect(findSecretDirectories(path.join(root, "a")).length).toBeLessThan(100);
});
