import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "#contract";
import { runProcess } from "../../adapters/shared/process/run-process.ts";
import { createSandbox } from "../../adapters/shared/process/sandbox.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { directoryOutsideTmp } from "./open-sandbox.ts";

/** The text that every secret of these tests contains. */
const marker = "whsec_of_the_operator";

interface Case {
  /** Creates the secret, and returns the path that Bridge knows. */
  create(root: string): string;
  replace(root: string): void;
  /** The files below the root that the task can still read. */
  visible?: string[];
}

const write = (root: string, name: string, content = marker): void => {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  writeFileSync(path.join(root, name), content);
};
const replaceByRename = (root: string, name: string): void => {
  write(root, `${name}.new`);
  renameSync(path.join(root, `${name}.new`), path.join(root, name));
};
const link = (root: string, name: string, target: string): void => {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  symlinkSync(target, path.join(root, `${name}.new`));
  renameSync(path.join(root, `${name}.new`), path.join(root, name));
};

const cases: Record<string, Case> = {
  "a file in a separate directory, replaced by rename": {
    create(root) {
      write(root, "conf/tokens.json");
      return path.join(root, "conf/tokens.json");
    },
    replace: (root) => replaceByRename(root, "conf/tokens.json"),
  },
  "a file next to programs, replaced by rename and kept under other names": {
    create(root) {
      write(root, "app/.env");
      write(root, "app/.env~");
      write(root, "app/bin/tool", "a program");
      write(root, "app/node_modules/package/index.js", "a library");
      link(root, "app/current-tool", "bin/tool");
      return path.join(root, "app/.env");
    },
    replace(root) {
      write(root, "app/.env.bak");
      // Replaces the file by a new one, as `sed -i` does.
      write(root, "app/sedQ4x1tH");
      renameSync(path.join(root, "app/sedQ4x1tH"), path.join(root, "app/.env"));
    },
    visible: ["app/bin/tool", "app/current-tool", "app/node_modules/package/index.js"],
  },
  "a secret that Kubernetes mounts, rotated by its link": {
    create(root) {
      write(root, "secret/..2026_01/tokens.json");
      link(root, "secret/..data", "..2026_01");
      link(root, "secret/tokens.json", "..data/tokens.json");
      return path.join(root, "secret/tokens.json");
    },
    replace(root) {
      write(root, "secret/..2026_02/tokens.json");
      link(root, "secret/..data", "..2026_02");
      rmSync(path.join(root, "secret/..2026_01"), { recursive: true });
    },
  },
  "a secret that Kubernetes mounts next to programs, rotated by its link": {
    create(root) {
      write(root, "app/bin/tool", "a program");
      write(root, "app/..2026_01/tokens.json");
      link(root, "app/..data", "..2026_01");
      link(root, "app/tokens.json", "..data/tokens.json");
      return path.join(root, "app/tokens.json");
    },
    replace(root) {
      write(root, "app/..2026_02/tokens.json");
      link(root, "app/..data", "..2026_02");
    },
    visible: ["app/bin/tool"],
  },
  "a secret that Kubernetes mounts, named through its link": {
    create(root) {
      write(root, "secret/..2026_01/tokens.json");
      link(root, "secret/..data", "..2026_01");
      return path.join(root, "secret/..data/tokens.json");
    },
    replace(root) {
      write(root, "secret/..2026_02/tokens.json");
      link(root, "secret/..data", "..2026_02");
    },
  },
  "a release that a link names": {
    create(root) {
      write(root, "releases/1/tokens.json");
      link(root, "current", "releases/1");
      return path.join(root, "current/tokens.json");
    },
    replace(root) {
      write(root, "releases/2/tokens.json");
      link(root, "current", "releases/2");
    },
  },
  "a link to a file, replaced by a file": {
    create(root) {
      write(root, "vault/tokens-1.json");
      link(root, "conf/tokens.json", path.join(root, "vault/tokens-1.json"));
      return path.join(root, "conf/tokens.json");
    },
    replace(root) {
      write(root, "vault/tokens-2.json");
      replaceByRename(root, "conf/tokens.json");
    },
  },
};

test.each(Object.entries(cases))("a task never reads %s", async (_what, { create, replace, visible = [] }) => {
  const bench = openBench();
  const secret = create(bench.root);
  const sandbox = await bench.openSandbox([secret]);
  const task = await bench.start(sandbox);
  const before = await task.look();
  replace(bench.root);
  const after = await task.look();
  expect(await task.end()).toMatchObject({ exitCode: 0 });
  // A task that starts after the change.
  const later = await (await bench.start(sandbox)).lookAndEnd();
  for (const seen of [before, after, later]) expect(seen).toEqual({ files: visible, secrets: [] });
});

test("a task reads no secret that is created after the start of Bridge", async () => {
  const { root, start, openSandbox } = openBench();
  write(root, "app/bin/tool", "a program");
  const sandbox = await openSandbox([path.join(root, "app/.env")]);
  write(root, "app/.env");
  const task = await start(sandbox);
  replaceByRename(root, "app/.env");
  expect(await task.lookAndEnd()).toEqual({ files: ["app/bin/tool"], secrets: [] });
});

test("a task never reads a secret next to programs in the shared temporary directory", async () => {
  const { root, start, openSandbox } = openBench(await temporaryDirectory(), "");
  write(root, "tool", "a program");
  write(root, ".env");
  const task = await start(await openSandbox([path.join(root, ".env")]));
  replaceByRename(root, ".env");
  expect(await task.lookAndEnd()).toEqual({ files: ["tool"], secrets: [] });
});

test("a task that starts while a secret is temporarily missing never reads it", async () => {
  const { root, start, openSandbox } = openBench();
  write(root, "app/bin/tool", "a program");
  write(root, "app/.env");
  const sandbox = await openSandbox([path.join(root, "app/.env")]);
  rmSync(path.join(root, "app/.env"));
  const task = await start(sandbox);
  write(root, "app/.env");
  expect(await task.lookAndEnd()).toEqual({ files: ["app/bin/tool"], secrets: [] });
});

test("a task that can write to a whole home directory can neither read nor replace a secret in it", async () => {
  const { root, openSandbox, start } = openBench();
  write(root, "home/code/bridge/.env");
  write(root, "home/code/notes", "notes");
  const sandbox = await openSandbox([path.join(root, "home/code/bridge/.env")]);
  const task = await start(sandbox, {
    home: path.join(root, "home"),
    script: `mv ${root}/home/code ${root}/home/elsewhere; echo x > ${root}/home/code/mine`,
  });
  replaceByRename(root, "home/code/bridge/.env");
  expect(await task.lookAndEnd()).toEqual({ files: ["home/code/mine", "home/code/notes"], secrets: [] });
  expect(readdirSync(path.join(root, "home"))).toEqual(["code"]);
});

describe("a secret that cannot be hidden", () => {
  test("a secret that cannot be hidden prevents the start of a task that writes to its directory", async () => {
    const { root, openSandbox, start } = openBench();
    write(root, "home/.env");
    const task = await start(await openSandbox([path.join(root, "home/.env")]), { home: path.join(root, "home") });
    const { spawnError } = await task.end();
    expect(spawnError).toBe(
      `${root}/home/.env must stay hidden from tasks, but this task writes to ${root}/home. Move the file to a separate directory.`,
    );
  });

  test("a secret that cannot be hidden prevents the start of Bridge when its directory has too many other entries", async () => {
    const { root, create } = openBench();
    write(root, "app/bin/tool", "a program");
    write(root, "app/.env");
    for (let number = 0; number < 500; number += 1) write(root, `app/${number}`, "");
    expect(await create([path.join(root, "app/.env")])).toEqual({
      missing: `${root}/app/.env cannot be hidden from tasks: ${root}/app exceeds the 500 entries that a sandbox can mount one by one. Move the file to a separate directory.`,
    });
  });
});

/** A root with a directory on PATH, and tasks that read every file below the root. */
function openBench(root = directoryOutsideTmp(), programs = "app/bin") {
  const at = (name: string) => path.join(root, name);
  mkdirSync(at("data/workspace"), { recursive: true });
  mkdirSync(at("data/home"));
  mkdirSync(at("data/tmp"));
  const env = { PATH: `${at(programs)}:/usr/bin:/bin` };

  const create = (secrets: readonly string[]) =>
    createSandbox({ env, hidden: [at("data")], secrets, programs: [], directory: at("data/sandbox") });
  async function openSandbox(secrets: readonly string[]): Promise<Sandbox> {
    const made = await create(secrets);
    if ("missing" in made) throw new Error(made.missing);
    return made;
  }

  async function start(sandbox: Sandbox, { home = at("data/home"), script = "true" }: { home?: string; script?: string } = {}) {
    const lines: string[] = [];
    let stdin: Writable | undefined;
    const ready = Promise.withResolvers<void>();
    let looked = Promise.withResolvers<void>();
    const find = `find ${root} -path ${at("data")} -prune -o '(' -type f -o -type l ')' -print`;
    const running = runProcess({
      argv: [
        "/bin/sh",
        "-c",
        `${script}; echo ready; while read -r _; do ${find} | while read -r file; do echo "$file $(cat "$file")"; done; echo looked; done`,
      ],
      cwd: at("data/workspace"),
      env,
      taskId: "task",
      workspace: at("data/workspace"),
      home,
      tmp: at("data/tmp"),
      sandbox,
      input(pipe) {
        stdin = pipe;
      },
      signal: new AbortController().signal,
      onLine(line) {
        if (line === "ready") ready.resolve();
        else if (line === "looked") looked.resolve();
        else lines.push(line);
      },
    });
    await Promise.race([ready.promise, running]);
    const end = () => {
      stdin?.end();
      return running;
    };
    /** The files of which the task can read a part, and those of them that contain a secret. */
    const look = async () => {
      lines.length = 0;
      looked = Promise.withResolvers();
      stdin?.write("look\n");
      await Promise.race([looked.promise, running]);
      const read = lines.map((line) => line.slice(root.length + 1).split(" ")).filter(([, content]) => content !== "");
      return {
        files: read.map(([file]) => file).sort(),
        secrets: read.filter(([, content]) => content === marker).map(([file]) => file),
      };
    };
    return {
      look,
      end,
      async lookAndEnd() {
        const seen = await look();
        expect(await end()).toMatchObject({ exitCode: 0, spawnError: null });
        return seen;
      },
    };
  }

  return { root, create, openSandbox, start };
}
