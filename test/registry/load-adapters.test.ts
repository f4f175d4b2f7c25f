import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../../src/errors.ts";
import { loadAdapters } from "../../src/registry/load-adapters.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const methods = ["initialize", "shutdown", "checkHealth", "capabilities", "execute", "cancel"];

/** Writes the module of an adapter with this provider, and returns its path. */
async function writeAdapter(name: string, provider: string): Promise<string> {
  const file = path.join(await temporaryDirectory(), `${name}.mjs`);
  const members = [`provider: "${provider}"`, ...methods.map((method) => `${method}() {}`)];
  await writeFile(file, `export const createAdapter = () => ({ ${members.join(", ")} });\n`);
  return file;
}

const sources = { catalog: [], adapterSettings: {} };

test("two adapters with the same provider are rejected with its name", async () => {
  const names = [await writeAdapter("one", "twin"), await writeAdapter("two", "twin")];
  await expect(loadAdapters(names, sources)).rejects.toThrow(new ConfigError(["BRIDGE_ADAPTERS: two adapters have the provider twin"]));
});

test("adapters with different providers are loaded in their order", async () => {
  const names = [await writeAdapter("one", "first"), await writeAdapter("two", "second")];
  expect((await loadAdapters(names, sources)).map(({ provider }) => provider)).toEqual(["first", "second"]);
});
