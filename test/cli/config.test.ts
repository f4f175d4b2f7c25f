import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../packages/bridge-cli/start-cli.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const check = (cwd: string, env: Record<string, string> = {}) => runCli(["config", "check"], { cwd, env });

test("check accepts a valid configuration, and creates nothing", async () => {
  const cwd = await temporaryDirectory();
  expect(await check(cwd, { BRIDGE_URL: "http://127.0.0.1:1", BRIDGE_TOKEN: "x" })).toEqual({
    exitCode: 0,
    stdout: "result\tok",
    stderr: "Not checked: the database (brg db check), and the agent programs (brg doctor, once Bridge runs).",
  });
  expect((await readdir(cwd)).filter((name) => name !== ".cache")).toEqual([]);
});

test("check prints all faults of the settings in .env with code 2, and names the setting that was probably meant", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(path.join(cwd, ".env"), "BRIDGE_PORT=none\nBRIDGE_HOST=0.0.0.0\nBRIDGE_TOKEN_FILE=tokens.json\n");
  const { exitCode, stderr } = await check(cwd);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/BRIDGE_PORT: must be a whole number.*BRIDGE_HOST: any address other than loopback requires a token/s);
  expect(stderr).toContain("BRIDGE_TOKEN_FILE is not a setting of Bridge and is ignored; did you mean BRIDGE_TOKENS_FILE?");
  // The environment takes precedence over the file.
  expect((await check(cwd, { BRIDGE_PORT: "1", BRIDGE_HOST: "::1" })).exitCode).toBe(0);
});

test("check reads the first setting of a .env that begins with a byte order mark", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(path.join(cwd, ".env"), "\uFEFFBRIDGE_SANDBOX=none\n");
  expect((await check(cwd)).stderr).toContain("BRIDGE_SANDBOX: must be");
});

test("check rejects a .env that is UTF-16 or a directory, with the remedy", async () => {
  const cwd = await temporaryDirectory();
  const file = path.join(cwd, ".env");
  for (const bytes of [Buffer.from("\uFEFFBRIDGE_SANDBOX=required\n", "utf16le"), Buffer.from("A=1\n", "utf16le")]) {
    await writeFile(file, bytes);
    expect(await check(cwd)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(".env: is not UTF-8 text") });
  }
  await rm(file);
  await mkdir(file);
  expect(await check(cwd)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(".env: is a directory") });
});

test("check reads the files that the settings name, and loads the adapters", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(path.join(cwd, "data"));
  await writeFile(path.join(cwd, "data/token"), "short");
  await writeFile(path.join(cwd, "tokens.json"), '[{"name":"a"}]');
  await writeFile(path.join(cwd, "webhooks.json"), "{}");
  const files = { BRIDGE_TOKENS_FILE: "tokens.json", BRIDGE_WEBHOOKS_FILE: "webhooks.json", BRIDGE_PUBLIC_URL: "https://b.example" };
  const { exitCode, stderr } = await check(cwd, { ...files, BRIDGE_ADAPTERS: "command,./none.js" });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/BRIDGE_TOKENS_FILE: 0\.tenant/);
  expect(stderr).toMatch(/BRIDGE_WEBHOOKS_FILE: must be an array/);
  expect(stderr).toMatch(/warning: BRIDGE_ADAPTERS: The adapter \.\/none\.js cannot be loaded: the file does not exist/);
  expect((await check(cwd)).stderr).toMatch(/data\/token does not contain a valid token/);
});

test("list shows values, defaults and sources, and no secret", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(path.join(cwd, ".env"), "BRIDGE_PORT=1234\nBRIDGE_GATEWAY_TOKEN_HASH=secret-hash\nBRIDGE_LOG_LEVEL=warn\n");
  await writeFile(path.join(cwd, "secrets"), "secret-key");
  const env = {
    BRIDGE_LOG_LEVEL: "debug",
    BRIDGE_DATABASE_URL: "postgres://bridge:secret-password@db.example/bridge?password=secret-two",
    BRIDGE_CALLBACK_SECRETS_FILE: "secrets",
  };
  const { stdout, exitCode } = await runCli(["config", "list"], { cwd, env });
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain("secret-");
  const lines = stdout.split("\n");
  expect(lines).toContain("BRIDGE_HOST\t\t127.0.0.1\tdefault");
  expect(lines).toContain("BRIDGE_PORT\t1234\t8787\t.env");
  expect(lines).toContain("BRIDGE_LOG_LEVEL\tdebug\tinfo\tenvironment");
  expect(lines).toContain("BRIDGE_GATEWAY_TOKEN_HASH\t***\t\t.env");
  expect(lines).toContain("BRIDGE_CALLBACK_SECRETS\tthe content of secrets\t\tenvironment");
  expect(stdout).toMatch(/^BRIDGE_DATABASE_URL\tpostgres:\/\/bridge:\*\*\*@db\.example\/bridge\?password=\*\*\*\t/m);
  const set = JSON.parse((await runCli(["config", "list", "--set", "--json=name"], { cwd, env })).stdout) as { name: string }[];
  expect(set.map(({ name }) => name)).toEqual([
    "BRIDGE_PORT",
    "BRIDGE_DATABASE_URL",
    "BRIDGE_GATEWAY_TOKEN_HASH",
    "BRIDGE_CALLBACK_SECRETS",
    "BRIDGE_LOG_LEVEL",
  ]);
});
