import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { findUnusedPrograms } from "../../../../adapters/index.ts";
import { findInstalledPrograms } from "../../../../adapters/shared/agent-program/find-installed-programs.ts";
import { processesOf } from "../../../conformance/adapter-bench.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const names = ["one", "two", "three", "four"];

async function openMachine(programs: Record<string, string>) {
  const root = await temporaryDirectory();
  const bin = path.join(root, "bin");
  await mkdir(bin);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(path.join(bin, name), `#!/bin/sh\necho "$0 $@" >> ${root}/starts\n${script}\n`);
    await chmod(path.join(bin, name), 0o755);
  }
  const controller = new AbortController();
  const search = {
    env: { PATH: `${bin}:/usr/bin:/bin`, SECRET: "s" },
    directory: path.join(root, "asked"),
    sandbox: null,
    signal: controller.signal,
  };
  const starts = () => readFile(path.join(root, "starts"), "utf8").catch(() => "");
  return { root, bin, search, starts, abort: () => controller.abort() };
}

test("findInstalledPrograms finds the programs that work, with their versions, and starts each once", async () => {
  const { bin, search, starts } = await openMachine({ one: "echo one-cli 1.2.3", three: "echo 3.0.0-rc.1", four: "exit 1" });
  expect(await findInstalledPrograms(names, search)).toEqual([
    { name: "one", file: `${bin}/one`, version: "1.2.3" },
    { name: "three", file: `${bin}/three`, version: "3.0.0-rc.1" },
  ]);
  expect(await starts()).toBe(["one", "three", "four"].map((name) => `${bin}/${name} --version\n`).join(""));
});

test("findInstalledPrograms starts programs one after the other with low priority, without Bridge's secrets, and leaves nothing behind", async () => {
  const script = (name: string) =>
    `echo ${name} >> ../../../log; sleep 0.1; echo ${name} >> ../../../log; cut -d' ' -f19 /proc/$$/stat >> ../../../log; env > ../../../env; echo 1.0.0`;
  const { root, search } = await openMachine({ one: script("one"), two: script("two") });
  expect(await findInstalledPrograms(names, search)).toHaveLength(2);
  expect((await readFile(path.join(root, "log"), "utf8")).split("\n").map((line) => line.trim())).toEqual([
    "one",
    "one",
    "19",
    "two",
    "two",
    "19",
    "",
  ]);
  expect(await readFile(path.join(root, "env"), "utf8")).not.toContain("SECRET");
  expect((await readdir(root)).sort()).toEqual(["bin", "env", "log", "starts"]);
});

test("findInstalledPrograms starts no process and creates no directory if there is no program", async () => {
  const { root, search } = await openMachine({});
  expect(await findInstalledPrograms(names, search)).toEqual([]);
  expect(await findInstalledPrograms(names, { ...search, env: {} })).toEqual([]);
  expect(await readdir(root)).toEqual(["bin"]);
});

test("findInstalledPrograms stops when its signal aborts: the running program is stopped, and no other is started", async () => {
  const { search, starts, abort, bin } = await openMachine({
    one: 'echo "$BRIDGE_TASK_ID" >> $HOME/../../../id; sleep 60',
    two: "echo 2.0.0",
  });
  const searching = findInstalledPrograms(names, search);
  const id = path.join(bin, "../id");
  await expect.poll(() => readFile(id, "utf8").catch(() => "")).toMatch(/^probe\//);
  abort();
  expect(await searching).toEqual([]);
  expect(processesOf((await readFile(id, "utf8")).trim())).toEqual([]);
  expect((await starts()).split("\n")).toHaveLength(2);
});

test("programs of enabled adapters are not searched for", async () => {
  const { search } = await openMachine(Object.fromEntries(["claude", "codex", "gemini", "opencode"].map((name) => [name, "echo 1.0.0"])));
  const found = (await findUnusedPrograms(new Set(["command", "codex"]), search)).map(({ name }) => name);
  expect(found).toEqual(["claude", "gemini", "opencode"]);
});
