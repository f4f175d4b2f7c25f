import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { createConsoleFiles } from "../../../src/http/console/console-files.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a console that is built after the first request is found", async () => {
  const directory = path.join(await temporaryDirectory(), "built");
  const files = createConsoleFiles(directory);
  expect(await files.find("index.html")).toBeUndefined();
  await mkdir(directory);
  await writeFile(path.join(directory, "index.html"), "<!doctype html>");
  expect((await files.find("index.html"))?.bytes.toString()).toBe("<!doctype html>");
});
