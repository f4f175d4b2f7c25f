import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { scenarios } from "../scenarios/index.ts";
import { mutations } from "./mutations.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

test.each(mutations)("the mutation applies to the source, and names what detects it: $name", ({ file, find, caughtBy }) => {
  expect(readFileSync(path.join(repository, file), "utf8").split(find)).toHaveLength(2);
  if ("scenario" in caughtBy) expect(scenarios.map(({ name }) => name)).toContain(caughtBy.scenario);
  else expect(existsSync(path.join(repository, caughtBy.test))).toBe(true);
});
