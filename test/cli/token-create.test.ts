import { hash } from "node:crypto";
import { readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../../packages/bridge-cli/test/start-cli.ts";
import { startBridgeApp } from "../support/bridge-app.ts";
import { shellCommand } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

interface Created {
  token: string;
  entry: Record<string, unknown>;
  file: string | null;
}

const create = async (cwd: string, ...args: string[]) => runCli(["token", "create", ...args], { cwd });

test("a token that is added to the tokens file of a running Bridge works, and the file contains only its hash", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(path.join(cwd, ".env"), "BRIDGE_TOKENS_FILE=tokens.json\n");
  const first = await create(cwd, "admin", "--scopes", "manage,read", "--add", "--json");
  expect(first.exitCode).toBe(0);
  const file = path.join(cwd, "tokens.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const bridge = await startBridgeApp(await temporaryDirectory(), { ...shellCommand("echo"), BRIDGE_TOKENS_FILE: file });
  const added = await create(cwd, "ci", "--tenant", "acme", "--expires", "90d", "--add", "--json");
  const { token, entry } = JSON.parse(added.stdout) as Created;
  expect(entry).toMatchObject({ name: "ci", tenant: "acme", sha256: hash("sha256", token), scopes: ["dispatch", "read"] });
  expect(await readFile(file, "utf8")).not.toContain(token);
  await expect
    .poll(async () => (await bridge.call("GET", "/api/v2/me", undefined, { authorization: `Bearer ${token}` })).json())
    .toMatchObject({ name: "ci", tenant: "acme", expiresAt: entry["expiresAt"] });
});

test("without --add, the token and its entry are printed, and no file is written", async () => {
  const cwd = await temporaryDirectory();
  const { stdout, exitCode } = await create(cwd, "ci", "--expires", "2126-01-01T00:00:00Z");
  const [, token = "", entry = ""] = /^token\t(bridge_\S{43})\nentry\t(.+)\nfile\t$/.exec(stdout) ?? [];
  expect(exitCode).toBe(0);
  expect(JSON.parse(entry)).toEqual({
    name: "ci",
    tenant: "default",
    sha256: hash("sha256", token),
    scopes: ["dispatch", "read"],
    expiresAt: "2126-01-01T00:00:00.000Z",
  });
});

test.each([
  [["a b"], 2, /name must be 1 to 128 printable ASCII characters/],
  [["ci", "--scopes", "dispatch,reed"], 2, /scopes\.1 must be one of/],
  [["ci", "--tenant", "../x"], 2, /tenant must be/],
  [["ci", "--expires", "yesterday"], 2, /--expires must be a number of days or a time in the future.*"yesterday"/],
  [["ci", "--add"], 2, /BRIDGE_TOKENS_FILE is not set.*BRIDGE_TOKENS_FILE=/s],
  [[], 2, /missing required argument 'name'/],
])("wrong arguments %j are rejected with the reason", async (args, exitCode, reason) => {
  expect(await create(await temporaryDirectory(), ...args)).toMatchObject({ exitCode, stdout: "", stderr: expect.stringMatching(reason) });
});

test("an invalid file or a name that exists leaves the file as it was", async () => {
  const cwd = await temporaryDirectory();
  const file = path.join(cwd, "tokens.json");
  await writeFile(path.join(cwd, ".env"), `BRIDGE_TOKENS_FILE=${file}\n`);
  expect((await create(cwd, "ci", "--add")).exitCode).toBe(0);
  const before = await readFile(file, "utf8");
  expect(await create(cwd, "ci", "--add")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("ci is the name of another token"),
  });
  expect(await readFile(file, "utf8")).toBe(before);
  await writeFile(file, "[{");
  expect(await create(cwd, "two", "--add")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("is not valid JSON") });
  expect(await readFile(file, "utf8")).toBe("[{");
});

test("a link to the file stays, and the file keeps its mode", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(path.join(cwd, "real.json"), "[]", { mode: 0o640 });
  await symlink("real.json", path.join(cwd, "tokens.json"));
  await writeFile(path.join(cwd, ".env"), "BRIDGE_TOKENS_FILE=tokens.json\n");
  expect((await create(cwd, "ci", "--add")).exitCode).toBe(0);
  expect((await stat(path.join(cwd, "real.json"))).mode & 0o777).toBe(0o640);
  expect(JSON.parse(await readFile(path.join(cwd, "real.json"), "utf8"))).toHaveLength(1);
  await writeFile(path.join(cwd, "real.json.new"), "");
  expect(await create(cwd, "other", "--add")).toMatchObject({ exitCode: 6, stderr: expect.stringContaining("real.json.new exists") });
});
