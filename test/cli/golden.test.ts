import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { record } from "../../packages/bridge-cli/test/record.ts";
import { shellCommand, startBridgeProgram } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** What each command of the server prints on a terminal and in a pipe, recorded in `golden/`. They run in this order. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "config-check": ["config", "check"],
  "config-list": ["config", "list"],
  "token-create": ["token", "create", "ci", "--scopes", "read", "--expires", "2030-01-31T00:00:00Z"],
  "db-check": ["db", "check"],
  "db-backup": ["db", "backup", "made.backup"],
  "db-backup-again": ["db", "backup", "made.backup"],
  "db-restore": ["db", "restore", "made.backup"],
  "db-migrate": ["db", "migrate"],
  "db-renew-epoch": ["db", "renew-epoch"],
  "serve-wrong": ["serve", "here"],
};

test("each command of the server prints what is recorded", async () => {
  // The two runs of a command do not share their data.
  const [terminal, pipe] = await Promise.all([temporaryDirectory(), temporaryDirectory()]);
  const directories = { terminal, pipe };
  await mkdir(path.join(terminal, "data"));
  const bridge = await startBridgeProgram(path.join(terminal, "data"), shellCommand("echo"));
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
  await cp(path.join(terminal, "data"), path.join(pipe, "data"), { recursive: true });
  for (const [name, args] of Object.entries(commands)) {
    const recording = await record(args, (run) => ({ cwd: directories[run], env: { NO_COLOR: "1" } }));
    await expect(recording).toMatchFileSnapshot(path.join(import.meta.dirname, "golden", `${name}.txt`));
  }
});
