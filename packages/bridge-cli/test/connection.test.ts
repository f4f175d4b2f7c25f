import { chmod, mkdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBridgeProgram } from "../../../test/support/bridge-program.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { runCli, startOnTerminal } from "./start-cli.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

/** A home directory, and `bridge` in it. */
async function createHome() {
  const home = await temporaryDirectory();
  const file = path.join(home, ".config/bridge/config.json");
  return {
    home,
    file,
    run: (args: readonly string[], env: Record<string, string> = {}, input = "") => runCli(args, { cwd: home, env, input }),
    add: (name: string, token: string, ...more: string[]) =>
      runCli(["profile", "add", name, "--url", bridge.url, ...more], { cwd: home, input: `secret-${token}\n` }),
    async write(content: unknown) {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
    },
  };
}
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

/** Without a scope that listing needs, the error names the token. */
const usedToken = (stderr: string) => /The token "(\w+)"/.exec(stderr)?.[1];

describe("brg profile", () => {
  test("brg profile saves the address and the token for this user only, and selects the first profile", async () => {
    const { home, file, run, add } = await createHome();
    expect(await add("prod", "alpha")).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: expect.stringMatching(/^The token "alpha" of the tenant "alpha" has the scopes: dispatch, .*\nCommands now use http:/),
    });
    const tokenFile = path.join(home, ".config/bridge/tokens/prod");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ current: "prod", profiles: { prod: { url: bridge.url, tokenFile } } });
    expect([await modeOf(file), await modeOf(tokenFile), await modeOf(path.dirname(file))]).toEqual(["600", "600", "700"]);
    expect(await run(["tasks"])).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect((await run(["profile", "list"])).stdout).toBe(`prod\tyes\t${bridge.url}\t${tokenFile}`);
  });

  test("brg profile reads the token from a terminal without showing it", async () => {
    const { home, run } = await createHome();
    const cli = await startOnTerminal(["profile", "add", "typed", "--url", bridge.url], { cwd: home });
    await cli.waitFor(/Token for/);
    cli.type("secret-alpha\r");
    expect(await cli.exited).toBe(0);
    expect(cli.shown()).not.toContain("secret-alpha");
    expect(await run(["tasks"])).toMatchObject({ exitCode: 0 });
  });

  test("brg profile saves nothing if Bridge rejects the token", async () => {
    const { add, run } = await createHome();
    expect(await add("prod", "wrong")).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("rejected the token from stdin") });
    expect((await run(["profile", "list"])).stdout).toBe("");
  });

  test("brg profile is saved in the target of a configuration file that is a link", async () => {
    const { home, file, run, add } = await createHome();
    const target = path.join(home, "dotfiles.json");
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(target, '{"current":null,"profiles":{}}');
    await symlink(target, file);
    expect(await add("prod", "alpha")).toMatchObject({ exitCode: 0 });
    expect(await readlink(file)).toBe(target);
    expect(JSON.parse(await readFile(target, "utf8"))).toMatchObject({ current: "prod" });
    expect((await run(["profile", "list"])).stdout).toContain("prod\tyes");
  });

  test("brg profile is selected by profile use, BRIDGE_PROFILE and --profile", async () => {
    const { add, run } = await createHome();
    await add("one", "dispatcher");
    await add("two", "scraper");
    expect(usedToken((await run(["tasks"])).stderr)).toBe("dispatcher");
    expect(usedToken((await run(["tasks"], { BRIDGE_PROFILE: "two" })).stderr)).toBe("scraper");
    expect(usedToken((await run(["tasks", "--profile", "two"])).stderr)).toBe("scraper");
    expect(usedToken((await run(["--profile", "two", "tasks"], { BRIDGE_TOKEN: "secret-alpha" })).stderr)).toBe("scraper");
    await run(["profile", "use", "two"]);
    expect(usedToken((await run(["tasks"])).stderr)).toBe("scraper");
    expect(await run(["profile", "use", "three"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Profiles: one, two.") });
  });

  test("brg profile gets the token from a command", async () => {
    const { add, run } = await createHome();
    await add("vault", "", "--token-command", "echo secret-alpha");
    expect(await run(["tasks"])).toMatchObject({ exitCode: 0 });
    expect(await add("broken", "", "--token-command", "echo secret-alpha; exit 3")).toEqual({
      exitCode: 4,
      stdout: "",
      stderr: "bridge: The token command failed: echo secret-alpha; exit 3",
    });
  });

  test.each<[string, unknown, string]>([
    ["is not JSON", "{", "not valid JSON"],
    ["has a profile without a URL", { profiles: { a: {} } }, "profiles.a.url must be a URL."],
    ["selects an unknown profile", { current: "b", profiles: {} }, '`current` must be the name of a profile; got "b".'],
  ])("brg profile reports a file that %s", async (_, content, words) => {
    const { run, write } = await createHome();
    await write(content);
    expect(await run(["tasks"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) });
  });

  test("brg profile reports a file that other users can write, because it can contain commands", async () => {
    const { run, write, file } = await createHome();
    await write({ current: null, profiles: {} });
    await chmod(file, 0o666);
    expect(await run(["tasks"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`chmod 600 '${file}'`) });
  });
});

describe("the address and the token", () => {
  test("the address and the token are those of the environment, before the profile", async () => {
    const { add, run } = await createHome();
    await add("prod", "dispatcher");
    expect(usedToken((await run(["tasks"], { BRIDGE_TOKEN: "secret-scraper" })).stderr)).toBe("scraper");
    expect(await run(["tasks"], { BRIDGE_URL: "ftp://x" })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('BRIDGE_URL must be an http or https URL without credentials, query or fragment; got "ftp://x".'),
    });
  });

  test("the address and the token are never mixed: the token of a profile is sent only to its address", async () => {
    const { add, run } = await createHome();
    await add("prod", "alpha");
    const other = await startReceiver();
    expect(await run(["tasks", "--url", other.origin])).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("There is no token for"),
    });
    expect(await run(["tasks"], { BRIDGE_URL: other.origin })).toMatchObject({ exitCode: 4 });
    expect(other.posts).toEqual([]);
    await other.close();
  });

  test("the address and the token are by default those of a Bridge in the current directory", async () => {
    const home = await temporaryDirectory();
    await mkdir(path.join(home, "data"));
    const program = await startBridgeProgram(path.join(home, "data"));
    expect(await runCli(["tasks", "--url", program.url], { cwd: home })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const port = new URL(program.url).port;
    const done = { exitCode: 0, stdout: "", stderr: "" };
    expect(await runCli(["tasks"], { cwd: home, env: { BRIDGE_PORT: port } })).toEqual(done);
    await rename(path.join(home, "data"), path.join(home, "elsewhere"));
    await writeFile(path.join(home, ".env"), `BRIDGE_PORT=${port}\nBRIDGE_DATA_DIR=./elsewhere\n`);
    expect(await runCli(["tasks"], { cwd: home })).toEqual(done);
    // Only Bridge may be able to read `.env`. A directory has the same effect, also for root.
    await rm(path.join(home, ".env"));
    await mkdir(path.join(home, ".env"));
    expect(await runCli(["tasks"], { cwd: home, env: { BRIDGE_PORT: port, BRIDGE_DATA_DIR: "elsewhere" } })).toEqual(done);
    expect(await runCli(["tasks"], { cwd: home })).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("There is no token") });
    expect(await runCli(["tasks"], { cwd: home, env: { BRIDGE_PORT: "1", BRIDGE_DATA_DIR: "elsewhere" } })).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("The address is from BRIDGE_PORT."),
    });
  });
});

test("brg version reports both versions, and works without Bridge", async () => {
  const { run } = await createHome();
  expect((await run(["version"], { BRIDGE_URL: bridge.url, BRIDGE_TOKEN: "secret-alpha" })).stdout).toMatch(
    /^bridge\t\d+\.\d+\.\d+\nserver\t\d+\.\d+\.\d+$/,
  );
  expect(await run(["version"])).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("The version of Bridge is unknown") });
});
