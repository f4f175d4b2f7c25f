import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";

// This test is here because `convex` is installed with the generators: it is larger than everything that `npm test` needs.
test("the Convex example compiles under strict settings", async () => {
  const compiler = path.join(import.meta.dirname, "../../node_modules/.bin/tsc");
  const cwd = path.join(import.meta.dirname, "clients");
  const { all } = await execa(compiler, ["--project", "tsconfig.convex.json"], { cwd, stdin: "ignore", all: true, reject: false });
  expect(all).toBe("");
});
