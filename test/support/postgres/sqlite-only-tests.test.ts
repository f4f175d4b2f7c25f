import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { sqliteOnlyTests } from "./sqlite-only-tests.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

test.each(Object.entries(sqliteOnlyTests))("every test of %s that PostgreSQL omits exists", async (file, reasons) => {
  const source = await readFile(path.join(repository, file), "utf8");
  for (const title of Object.keys(reasons)) for (const part of title.split(" > ")) expect(source).toContain(`"${part}"`);
});
