import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { createProgram } from "../src/create-program.ts";
import { verbs } from "../src/verb-table.ts";
import { runCli } from "./start-cli.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

test("the help lists every command and every exit code", async () => {
  const { stdout, exitCode } = await runCli(["--help"]);
  expect(exitCode).toBe(0);
  for (const { name, isHidden } of verbs) if (isHidden !== true) expect(stdout).toMatch(new RegExp(`^ {2}${name.split(" ")[0]}\\b`, "m"));
  const codes = [...stdout.matchAll(/^ {2}(\d+) {2,}\w/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 124, 130]);
});

test("the help loads neither the client nor a verb", async () => {
  const directory = await temporaryDirectory();
  const preload = pathToFileURL(path.join(import.meta.dirname, "../../../test/fixtures/programs/report-at-exit.js"));
  const report = path.join(directory, "report.json");
  const { exitCode } = await runCli(["--help"], { env: { REPORT_FILE: report }, nodeOptions: `--import ${preload}` });
  expect(exitCode).toBe(0);
  const { packages } = JSON.parse(await readFile(report, "utf8")) as { packages: string[] };
  expect(packages.toSorted()).toEqual(["bridge-cli", "commander"]);
});

test("every command explains itself", () => {
  const program = createProgram(async () => {});
  for (const { name, summary } of verbs) {
    const command = name.split(" ").reduce((parent, word) => parent.commands.find((one) => one.name() === word) ?? parent, program);
    expect(command).not.toBe(program);
    const help = command.helpInformation();
    expect(help.replaceAll(/\s+/g, " ")).toContain(summary.replaceAll(/\s+/g, " "));
    expect(help).toContain("--json[=fields]");
  }
});

test("without a command, the help is printed to stderr with code 2", async () => {
  expect(await runCli([])).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringMatching(/^Usage: brg/) });
});

test("help prints the help of the program, of a command and of a command of a group, and rejects an unknown one", async () => {
  const shown = async (...args: string[]) => (await runCli(args)).stdout;
  expect(await shown("help")).toBe(await shown("--help"));
  expect(await shown("help", "dispatch")).toBe(await shown("dispatch", "--help"));
  expect(await shown("help", "profile", "add")).toBe(await shown("profile", "add", "--help"));
  expect(await runCli(["help", "nothing"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("unknown command 'nothing'") });
});

test("--version prints the version of this program, and needs no connection", async () => {
  const { version } = JSON.parse(await readFile(path.join(repository, "packages/bridge-cli/package.json"), "utf8")) as { version: string };
  for (const option of ["--version", "-V"])
    expect(await runCli([option], { env: { BRIDGE_URL: "http://127.0.0.1:1" } })).toMatchObject({
      exitCode: 0,
      stdout: version,
      stderr: "",
    });
});

test("a wrong command or option names the command whose help explains it", async () => {
  expect(await runCli(["task5"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/unknown command 'task5'(.|\n)*See: brg --help$/),
  });
  expect(await runCli(["profile", "add", "--nope", "x"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/unknown option '--nope'(.|\n)*See: brg profile add --help$/),
  });
});

test("with --json, an error is a problem document on stderr", async () => {
  const { stdout, stderr } = await runCli(["tasks", "--json", "--limit", "x"]);
  expect(stdout).toBe("");
  expect(JSON.parse(stderr)).toMatchObject({
    type: "urn:bridge:error:usage",
    code: "usage",
    detail: expect.stringContaining("'x' is invalid"),
  });
  const connection = await runCli(["tasks", "--json"], { env: { BRIDGE_URL: "http://127.0.0.1:1", BRIDGE_TOKEN: "x" } });
  expect(JSON.parse(connection.stderr)).toMatchObject({ code: "unreachable", hint: expect.any(String) });
});

test("npx bridge works in a clone", async () => {
  const { stdout } = await execa("npx", ["--no", "bridge", "version", "--quiet"], {
    cwd: repository,
    env: { PATH: `${path.dirname(process.execPath)}:${process.env["PATH"]}` },
  });
  expect(stdout).toContain("bridge\t");
});

test("npm link installs bridge from a clone", async () => {
  const prefix = await temporaryDirectory();
  await mkdir(path.join(prefix, "lib/node_modules"), { recursive: true });
  const env = { PATH: `${path.dirname(process.execPath)}:${process.env["PATH"]}`, HOME: prefix, npm_config_prefix: prefix };
  await execa("npm", ["link", "--offline", "--no-audit", "--no-fund"], { cwd: path.join(repository, "packages/bridge-cli"), env });
  const { stdout } = await execa(path.join(prefix, "bin/bridge"), ["version", "--quiet"], { cwd: prefix, env });
  expect(stdout).toContain("bridge\t");
});

test("the completion script for bash completes commands, groups, options and choices", async () => {
  const { stdout } = await runCli(["completion", "bash"]);
  const complete = async (...words: string[]) => {
    const line = ["bridge", ...words].map((word) => `'${word}'`).join(" ");
    const script = `${stdout}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _bridge; echo "\${COMPREPLY[@]}"`;
    return (await execa("bash", ["-c", script])).stdout;
  };
  expect(await complete("ta")).toBe("tasks task tail");
  expect(await complete("profile", "")).toBe("add use list");
  expect(await complete("tasks", "--st")).toBe("--state");
  expect(await complete("--json", "tasks", "--state", "c")).toBe("completed cancelled");
  expect(await complete("profile", "add", "--token-")).toBe("--token-file --token-command");
});

test("the completion scripts for zsh and fish contain every command", async () => {
  for (const shell of ["zsh", "fish"]) {
    const { stdout, exitCode } = await runCli(["completion", shell]);
    expect(exitCode).toBe(0);
    for (const { name, isHidden } of verbs) if (isHidden !== true) expect(stdout).toContain(name.split(" ").at(-1));
  }
  expect(await runCli(["completion", "cmd"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("bash, zsh, fish") });
});
