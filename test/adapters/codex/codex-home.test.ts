import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { makeHome, makeHomeWithSettings } from "../../../adapters/codex/codex-home.ts";
import type { ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const taskIn = (home: string, settings = { home: "agent" }) =>
  ({ request: { directories: { home } }, context: { settings } }) as unknown as Pick<ProgramTask, "request" | "context">;

/** Creates a directory of the operator, as the target of a malicious link. */
async function victim(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(path.join(directory, "rules/deep"), { recursive: true });
  await writeFile(path.join(directory, "rules/deep/firewall.rules"), "rules");
  await writeFile(path.join(directory, "config.toml"), "settings");
  return directory;
}

async function expectUntouched(directory: string): Promise<void> {
  expect((await readdir(directory, { recursive: true })).toSorted()).toEqual([
    "config.toml",
    "rules",
    "rules/deep",
    "rules/deep/firewall.rules",
  ]);
  expect(await readFile(path.join(directory, "config.toml"), "utf8")).toBe("settings");
}

describe("the home of Codex", () => {
  test("the home of Codex contains Bridge's settings and no rules", async () => {
    const home = await temporaryDirectory();
    const own = path.join(home, ".codex");
    await mkdir(path.join(own, "rules/deep"), { recursive: true });
    await mkdir(path.join(own, "sessions"));
    expect(await makeHomeWithSettings(taskIn(home))).toEqual({ CODEX_HOME: own });
    expect((await readdir(own)).toSorted()).toEqual(["config.toml", "sessions"]);
    expect(await readFile(path.join(own, "config.toml"), "utf8")).toContain("bridge-inspect");
    await Promise.all(Array.from({ length: 8 }, () => makeHomeWithSettings(taskIn(home))));
    expect((await readdir(own)).toSorted()).toEqual(["config.toml", "sessions"]);
  });

  test("the home of Codex replaces a link that a task left, without changes in the link's target", async () => {
    const [home, outside] = [await temporaryDirectory(), await victim()];
    await symlink(outside, path.join(home, ".codex"));
    await makeHomeWithSettings(taskIn(home));
    await expectUntouched(outside);
    expect((await lstat(path.join(home, ".codex"))).isDirectory()).toBe(true);
    expect(await readdir(path.join(home, ".codex"))).toEqual(["config.toml"]);
  });

  test("the home of Codex replaces a link over the cli connection", async () => {
    const [home, outside] = [await temporaryDirectory(), await victim()];
    await symlink(outside, path.join(home, ".codex"));
    expect(await makeHome(taskIn(home))).toEqual({ CODEX_HOME: path.join(home, ".codex") });
    await expectUntouched(outside);
    expect(await readdir(path.join(home, ".codex"))).toEqual([]);
  });

  test.each(["rules", "config.toml"])("the home of Codex does not follow a link at %s", async (name) => {
    const [home, outside] = [await temporaryDirectory(), await victim()];
    await mkdir(path.join(home, ".codex"));
    await symlink(path.join(outside, name), path.join(home, ".codex", name));
    await makeHomeWithSettings(taskIn(home));
    await expectUntouched(outside);
  });

  test("the home of Codex replaces a directory that a task left at the path of the settings", async () => {
    const home = await temporaryDirectory();
    await mkdir(path.join(home, ".codex/config.toml/deep"), { recursive: true });
    await makeHomeWithSettings(taskIn(home));
    expect(await readFile(path.join(home, ".codex/config.toml"), "utf8")).toContain("bridge-inspect");
  });

  test("the home of Codex is the operator's home directory with home: user, and is not changed", async () => {
    const home = await temporaryDirectory();
    expect(await makeHomeWithSettings(taskIn(home, { home: "user" }))).toEqual({});
    expect(await readdir(home)).toEqual([]);
  });
});
