import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

test("a change of the core creates a new version of it and of the packages that depend on it", async () => {
  const directory = await temporaryDirectory();
  for (const name of ["package.json", "package-lock.json", ".changeset"]) {
    await cp(path.join(repository, name), path.join(directory, name), { recursive: true });
  }
  for (const name of await readdir(path.join(repository, "packages"))) {
    // The Python client has no manifest of npm.
    if (!existsSync(path.join(repository, "packages", name, "package.json"))) continue;
    await mkdir(path.join(directory, "packages", name), { recursive: true });
    await cp(path.join(repository, "packages", name, "package.json"), path.join(directory, "packages", name, "package.json"));
  }
  await symlink(path.join(repository, "node_modules"), path.join(directory, "node_modules"));
  await writeFile(path.join(directory, ".changeset/a-change.md"), '---\n"@hak2i/responder-bridge": minor\n---\n\nThe loop can do more.\n');
  await execa("git", ["init", "--quiet", "--initial-branch=main"], { cwd: directory });

  await execa(process.execPath, [path.join(repository, "node_modules/@changesets/cli/bin.js"), "version"], { cwd: directory });

  const manifestOf = async (name: string) => JSON.parse(await readFile(path.join(directory, "packages", name, "package.json"), "utf8"));
  const next = { core: await manifestOf("responder-bridge"), openai: await manifestOf("responder-bridge-openai") };
  const cli = await manifestOf("responder-bridge-cli");
  const before = JSON.parse(await readFile(path.join(repository, "packages/responder-bridge/package.json"), "utf8")) as { version: string };
  expect(next.core.version).not.toBe(before.version);
  expect(next.openai.dependencies).toHaveProperty(["@hak2i/responder-bridge"], next.core.version);
  expect(cli.dependencies).toMatchObject({
    "@hak2i/responder-bridge": next.core.version,
    "@hak2i/responder-bridge-openai": next.openai.version,
  });
  expect(await readFile(path.join(directory, "packages/responder-bridge/CHANGELOG.md"), "utf8")).toContain("The loop can do more.");
});
