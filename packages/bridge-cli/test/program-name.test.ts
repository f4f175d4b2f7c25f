import { symlink } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { program } from "./start-cli.ts";

test.each(["bridge", "brg"])("errors begin with the name %s by which the program was started", async (name) => {
  const directory = await temporaryDirectory();
  const link = path.join(directory, name);
  await symlink(program, link);
  const env = { PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: directory };
  for (const args of [
    ["tasks", "--limit"],
    ["tasks", "--url", "http://127.0.0.1:1"],
  ]) {
    const { stderr } = await execa(link, args, { env, extendEnv: false, reject: false });
    expect(stderr.split("\n")[0]).toMatch(new RegExp(`^${name}: `));
  }
});
