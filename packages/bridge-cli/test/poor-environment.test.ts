import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { accessTo, program, runCli } from "./start-cli.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

describe("without a home directory", () => {
  // As for a user id that the system does not know, for example in a container. Only root could become such a user here.
  const fail = `import os from "node:os"; import { syncBuiltinESMExports } from "node:module";
    os.homedir = () => { throw Object.assign(new Error("uv_os_homedir returned ENOENT"), { code: "ERR_SYSTEM_ERROR" }); };
    syncBuiltinESMExports();`;
  const nodeOptions = `--import data:text/javascript,${encodeURIComponent(fail)}`;
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    runCli(args, { nodeOptions, env: { HOME: "", XDG_CACHE_HOME: "", XDG_CONFIG_HOME: "", ...env } });

  test("bridge works with the address and the token of the environment", async () => {
    expect(await run(["tasks"], accessTo(bridge))).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await run(["profile", "list"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("brg profile add reports what to set", async () => {
    const { exitCode, stderr } = await run(["profile", "add", "p", "--url", bridge.url, "--token-command", "echo secret-alpha"]);
    expect({ exitCode, lines: stderr.split("\n") }).toEqual({
      exitCode: 2,
      lines: expect.arrayContaining([
        "bridge: Profiles cannot be saved, because this user has no home directory.",
        "Set HOME or XDG_CONFIG_HOME, or select a Bridge with BRIDGE_URL and BRIDGE_TOKEN.",
      ]),
    });
  });
});

test("a closed stderr changes neither the output nor the exit code", async () => {
  const cwd = await temporaryDirectory();
  const args = [program, "dispatch", "--provider", "memory", "--agent", "writer", "Hello."];
  const env = { ...accessTo(bridge), PATH: "/usr/bin:/bin", HOME: cwd };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  child.stderr.destroy();
  expect(await text(child.stdout)).toBe("Hello.\n");
  expect(await closed).toEqual([0, null]);
});

test("if stdout cannot be written, the command prints one line to stderr and exits with 1; a failed write to stderr changes nothing", async () => {
  const cwd = await temporaryDirectory();
  const args = [program, "dispatch", "--provider", "memory", "--agent", "writer", "Hello."];
  const env = { ...accessTo(bridge), PATH: "/usr/bin:/bin", HOME: cwd };
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  const failing = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", full, "pipe"] });
  const failed = once(failing, "close");
  const lines = (await text(failing.stderr as Readable)).trimEnd().split("\n");
  expect(lines.at(-1)).toBe("bridge: Standard output cannot be written: ENOSPC: no space left on device, write.");
  expect(await failed).toEqual([1, null]);
  const quiet = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", full] });
  const done = once(quiet, "close");
  expect(await text(quiet.stdout as Readable)).toBe("Hello.\n");
  expect(await done).toEqual([0, null]);
});
