import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import type { Sandbox } from "#contract";
import { createSandbox } from "../../../../adapters/shared/process/sandbox.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

test("without bubblewrap there is no sandbox, and the reason names the package to install", async () => {
  const { create } = await openBench();
  expect(await create()).toEqual({ missing: expect.stringMatching(/not on PATH.*apt-get install bubblewrap/) });
});

test("if bubblewrap does not work there is no sandbox, and the reason names the required permission", async () => {
  const { create } = await openBench("echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
  expect(await create()).toEqual({ missing: expect.stringMatching(/allow unprivileged user namespaces.*No permissions to create/) });
});

test("the sandbox reports its version", async () => {
  const { create } = await openBench("echo bubblewrap 0.8.0");
  expect(await create()).toMatchObject({ detail: "bubblewrap 0.8.0" });
});

test("a sandbox in which a task could write to a setting of the host is missing, with the reason", async () => {
  const setting = path.join(await temporaryDirectory(), "setting");
  writeFileSync(setting, "");
  const { create } = await openBench(`echo bubblewrap 0.8.0; echo ${setting}; echo /no/such/file-of-another-user`);
  const others = process.getuid?.() === 0 ? ", /no/such/file-of-another-user" : "";
  expect(await create()).toEqual({
    missing: `a task in the sandbox could write to ${setting}${others}: run Bridge as a user who cannot.`,
  });
});

test("the inner one of two nested paths decides what a task sees", async () => {
  // A file system in memory is below /dev, and a sandbox has its own /dev.
  vi.stubEnv("TMPDIR", process.env["DISK_TMPDIR"]);
  const { create, root } = await openBench("echo bubblewrap 0.8.0");
  const at = (name: string) => path.join(root, name);
  for (const name of ["home/data/workspaces/agent", "home/data/tmp/task", "secrets"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("secrets/tokens.json"), "[]");
  symlinkSync(at("home/data"), at("data"));
  const hidden = [at("data"), at("data/workspaces"), at("not-there")];
  const { wrap } = (await create(hidden, [at("secrets/tokens.json"), at("data/token")])) as Sandbox;
  const tmp = at("data/tmp/task");
  const argv = wrap(["/bin/echo", "--bind"], {
    cwd: at("data/workspaces/agent"),
    tmp,
    writable: [at("home"), at("data/workspaces/agent")],
  });

  const options = argv.slice(argv.indexOf("/proc", argv.indexOf("--proc")) + 1).join(" ");
  const mounts = options
    .match(/--(bind|ro-bind|tmpfs|remount-ro) \S+( \/\S+)?/g)
    ?.filter((mount) => mount.includes(root) && !mount.startsWith("--ro-bind /tmp"));
  expect(mounts).toEqual([
    `--bind ${at("home/data/tmp/task")} /tmp`,
    `--bind ${at("home")} ${at("home")}`,
    `--tmpfs ${at("secrets")}`,
    `--tmpfs ${at("home/data")}`,
    `--bind ${at("home/data/tmp/task")} ${at("home/data/tmp/task")}`,
    `--bind ${at("home/data/workspaces/agent")} ${at("home/data/workspaces/agent")}`,
    `--remount-ro ${at("home/data")}`,
    `--remount-ro ${at("secrets")}`,
  ]);
  expect(argv.join("\0")).toContain(["--chdir", at("data/workspaces/agent"), "--", "/bin/sh", "-c"].join("\0"));
  expect(argv.slice(-2)).toEqual(["/bin/echo", "--bind"]);
});

test("a home that is Bridge's own data directory stays hidden", async () => {
  const { create, root } = await openBench("echo bubblewrap 0.8.0");
  const { wrap } = (await create([root])) as Sandbox;
  const argv = wrap(["/bin/true"], { cwd: "/", tmp: path.join(root, "bin"), writable: [root] }).join(" ");
  expect(argv.indexOf(`--tmpfs ${root}`)).toBeGreaterThan(argv.indexOf(`--bind ${root} ${root}`));
});

/** A host whose bubblewrap is this shell script; without a script, bubblewrap is not installed. */
async function openBench(script?: string) {
  const root = await temporaryDirectory();
  const bin = path.join(root, "bin");
  mkdirSync(bin);
  if (script !== undefined) writeFileSync(path.join(bin, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const create = (hidden: readonly string[] = [], secrets: readonly string[] = []) =>
    createSandbox({ env: { PATH: bin }, hidden, secrets, programs: [], directory: path.join(root, "sandbox") });
  return { root, create };
}
