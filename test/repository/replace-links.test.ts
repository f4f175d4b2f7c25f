import path from "node:path";
import { expect, test } from "vitest";
import { replaceLinks } from "../../scripts/replace-links.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const readme = path.join(repository, "packages/responder-bridge/README.md");
const license = path.join(repository, "packages/responder-bridge/LICENSE");
const client = "https://www.npmjs.com/package/bridge-client";

test.each([
  ["keeps URLs and sections of the same page", "[a](https://h/x) [b](#use)", "[a](https://h/x) [b](#use)"],
  ["keeps links to files of the package", "[license](LICENSE)", "[license](LICENSE)"],
  ["keeps links to files that have another name in the package", "[limits](limits.md#all)", "[limits](LIMITS.md#all)"],
  ["refers to other packages on npm", "[the client](../bridge-client/README.md#install)", `[the client](${client}#install)`],
  ["replaces other links by their text", "See [`docs/x.md`](../../docs/x.md#y), or [z](z.md).", "See `docs/x.md`, or z."],
  ["removes a reference to a reason", "It waits\n([why](../decisions/1.md)). Then", "It waits. Then"],
  [
    "removes a reference at the end of a paragraph",
    "It waits. [Limits](sizes.md#a)\n\n- It.\n  [Why](w.md)\n- Next",
    "It waits.\n\n- It.\n- Next",
  ],
])("the README of a package %s", (_name, given, expected) => {
  const limits = path.join(repository, "packages/responder-bridge/limits.md");
  const files = new Map([
    [readme, "README.md"],
    [license, "LICENSE"],
    [limits, "LIMITS.md"],
  ]);
  expect(replaceLinks(given, readme, files)).toBe(expected);
});
