import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../../packages/bridge-cli/test/start-cli.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const check = (cwd: string, env: Record<string, string> = {}) => runCli(["config", "check"], { cwd, env });

test("check accepts a valid configuration, and creates nothing", async () => {
  const cwd = await temporaryDirectory();
  expect(await check(cwd, { BRIDGE_URL: "http://127.0.0.1:1", BRIDGE_TOKEN: "x" })).toEqual({
    exitCode: 0,
    stdout: "result\tok",
    stderr: [
      "A callback is retried 3 time(s), over 31 s. For production, set BRIDGE_CALLBACK_RETRIES=three-days.",
      "Not checked: the database (brg db check), and the agent programs (brg doctor, once Bridge runs).",
    ].join("\n"),
  });
  expect((await readdir(cwd)).filter((name) => name !== ".cache")).toEqual([]);
});

test("check names a directory that is a file or cannot be written, once, with its setting", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(path.join(cwd, "file"), "");
  expect(await check(cwd, { BRIDGE_DATA_DIR: "file" })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/BRIDGE_DATA_DIR: .*file must be a directory/),
  });
  expect((await check(cwd, { BRIDGE_DATA_DIR: "file/below" })).stderr.match(/must be a directory/g)).toHaveLength(1);
  expect((await check(cwd, { BRIDGE_WORKSPACES_DIR: "file" })).stderr).toMatch(/BRIDGE_WORKSPACES_DIR: .*file must be a directory/);
  // Root can write everywhere, except below a file of the kernel.
  expect((await check(cwd, { BRIDGE_DATA_DIR: "/proc/self/status" })).stderr).toMatch(/BRIDGE_DATA_DIR: /);
});

test("check warns of programs that are not on PATH, and reports the schedule of callbacks", async () => {
  const cwd = await temporaryDirectory();
  const { exitCode, stderr } = await check(cwd, {
    ...{ BRIDGE_ADAPTERS: "command,claude", BRIDGE_COMMAND: '["nosuchprog","a"]', BRIDGE_CLAUDE_COMMAND: "/opt/no such/claude" },
    ...{ BRIDGE_CODEX_COMMAND: "unused", BRIDGE_CALLBACK_RETRIES: "three-days" },
  });
  expect(exitCode).toBe(0);
  expect(stderr).toContain('warning: BRIDGE_COMMAND: the program "nosuchprog" is not on PATH.');
  expect(stderr).toContain('warning: BRIDGE_CLAUDE_COMMAND: the program "/opt/no such/claude" is no executable file.');
  expect(stderr).not.toContain("BRIDGE_CODEX_COMMAND");
  expect(stderr).toContain("A callback is retried 24 time(s), over 73 h.");
  expect((await check(cwd, { BRIDGE_COMMAND: '["node"]' })).stderr).not.toContain("warning");
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
