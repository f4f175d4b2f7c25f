import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { compileCache } from "../../../test/harness/compile-cache.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { until } from "../../../test/support/until.ts";
import { type Answer, json, startScriptedServer } from "../../bridge-client/test/scripted-server.ts";
import { flowmarkProgram, installProgram, listTool, writeTool } from "../../responder-bridge/test/tools.ts";
import { document, startRb } from "./start-rb.ts";

const key = "sk-secret-of-the-tests";

/** Creates a project with materials, FlowMark on the PATH and a model with scripted answers. */
async function prepare(...answers: Answer[]) {
  const directory = await temporaryDirectory();
  await writeFile(path.join(directory, "README.md"), "material: one\n");
  await writeFile(path.join(directory, "tools.md"), "material: two\n");
  await writeFile(path.join(directory, "private.md"), "never named\n");
  const bin = await installProgram(directory, "flowmark", flowmarkProgram(["one", "two"]));
  const { url, requests } = await startScriptedServer(...answers);
  const env = { PATH: `${bin}:/usr/bin:/bin`, OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` };
  const out = "artifacts/run-001";
  return {
    directory,
    requests,
    url,
    env,
    rb: (args: readonly string[], more: Record<string, string> = {}) =>
      startRb(directory, ["run", "--model", "small", "--out", out, ...args], { ...env, ...more }),
    read: (name: string) => readFile(path.join(directory, out, name), "utf8"),
    files: () => readdir(path.join(directory, out), { recursive: true }),
    exists: (name = "") => existsSync(path.join(directory, out, name)),
  };
}

/** Returns the expected progress on stderr, given which drafts were valid. */
const progressOf = (maxIterations: number, ...verdicts: readonly boolean[]): string =>
  verdicts
    .flatMap((isValid, index) => {
      const iteration = `iteration ${index + 1} of ${maxIterations}`;
      return [`${iteration}: waiting for openai small`, `${iteration}: ${isValid ? "valid" : "not valid"}`];
    })
    .join("\n");
const WAITING_FOR_2 = "iteration 2 of 3: waiting for openai small";

const flowmark = ["--tool", "flowmark", "--describe", "ai --lang en"];

test("rb run writes a valid document after two corrections, with the command line of the specification", async () => {
  const { rb, read, files, requests } = await prepare(document("# T\n"), document("# T\none"), document("one\ntwo"));
  const args = [...flowmark, "--params", "normalize --lang en", "--materials", "README.md", "tools.md"];
  expect(await rb(args)).toMatchObject({
    exitCode: 0,
    stdout: "artifacts/run-001/final/final.md",
    stderr: progressOf(3, false, false, true),
  });
  expect((await files()).toSorted()).toEqual([
    "final",
    "final/final.md",
    "final/validation.log",
    "inputs",
    "inputs/describe.md",
    "inputs/materials.txt",
    "inputs/params.md",
    "iterations",
    ...["01", "02", "03"].flatMap((number) =>
      ["", "/draft.md", "/prompt.json", "/validation.log"].map((name) => `iterations/iter-${number}${name}`),
    ),
    "meta.json",
  ]);
  expect(await read("final/final.md")).toBe("one\ntwo");
  expect(JSON.parse(await read("final/validation.log"))).toMatchObject({ errors: [], warnings: [{ message: "no title" }] });
  expect(JSON.parse(await read("meta.json"))).toMatchObject({
    provider: "openai",
    model: "small",
    tool: { name: "flowmark", version: "0.1.6" },
    describeTopic: "ai",
    describeArguments: ["--lang", "en"],
    paramsTopic: "normalize",
    ok: true,
    iterations: 3,
  });
  const sent = requests.map(({ body }) => JSON.parse(body).messages.at(-1).content as string);
  expect(sent[0]).toContain("=== README.md ===\nmaterial: one\n");
  expect(sent[1]).toContain("Fix to pass validator. Do not reduce enumeration.");
  expect(sent[1]).toContain(await read("iterations/iter-01/validation.log"));
  // Only the named files are sent, and the artifacts contain neither absolute paths nor the key.
  expect(sent.join()).not.toContain("never named");
  expect(sent.join()).not.toContain("bridge-test-");
  const kept = await Promise.all((await files()).filter((name) => /\.\w+$/.test(name)).map(read));
  expect(kept.join()).not.toContain(key);
});

test("a validator without a describe command uses the description from a file or from the command line", async () => {
  for (const flags of [
    ["--describe-file", "rules.md"],
    ["--describe-text", "The word one."],
  ]) {
    const { directory, rb, read, requests } = await prepare(document("one"));
    await writeFile(path.join(directory, "rules.md"), "The word one.");
    const tool = await writeTool(directory, 'process.exitCode = process.argv.length === 3 && process.argv[2] !== "describe" ? 0 : 2;');
    expect(await rb(["--tool", tool.join(" "), "--validate", "{file}", ...flags])).toMatchObject({ exitCode: 0 });
    expect(requests[0]?.body).toContain("The word one.");
    expect(await read("inputs/describe.md")).toContain("The word one.");
  }
});

test("rb run exits with code 1 if the document is invalid after the last iteration", async () => {
  const { rb, read, requests } = await prepare(document("one"));
  expect(await rb([...flowmark, "--max-iter", "2"])).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr:
      `${progressOf(2, false, false)}\n` +
      "rb: not valid after 2 iteration(s); the last draft is artifacts/run-001/final/final.md, and its log is in the same directory",
  });
  expect(requests).toHaveLength(2);
  expect(await read("final/final.md")).toBe("one");
  expect(await read("final/INVALID.txt")).toBe("Not valid after 2 iteration(s).\n");
  expect(JSON.parse(await read("meta.json"))).toMatchObject({ ok: false, iterations: 2 });
});

describe("another tool", () => {
  test("another tool is called with describe and validate by default", async () => {
    const { rb, directory, read } = await prepare(document("one two"));
    const tool = await writeTool(directory, listTool(["one", "two"]));
    expect(await rb(["--tool", tool.join(" "), "--describe", "lists"])).toMatchObject({ exitCode: 0 });
    expect(await read("inputs/describe.md")).toBe("About lists\none\ntwo\n");
    expect(JSON.parse(await read("meta.json"))).toMatchObject({ tool: { name: tool.join(" "), version: "list-tool 4.2" } });
  });

  test("another tool is called with the configured arguments and exit codes, and without the API keys", async () => {
    const { rb, directory, read } = await prepare(document("# Document"));
    const tool = await writeTool(
      directory,
      `console.log(JSON.stringify([process.argv.slice(2), process.env.OPENAI_API_KEY ?? null, process.env.KEPT]));
      process.exitCode = process.argv[2] === "lint" ? 5 : 0;`,
    );
    const args = ["--tool", tool.join(" "), "--describe", "x", "--validate", "lint --in={file} -v", "--valid-exit-codes", "0,5"];
    expect(await rb(args, { KEPT: "yes" })).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(await read("final/validation.log"))).toEqual([
      ["lint", "--in=./artifacts/run-001/iterations/iter-01/draft.md", "-v"],
      null,
      "yes",
    ]);
  });
});

describe("rb run exits with code 2 when", () => {
  const refusal = (status: number): Answer => json(status, { error: { message: `No: ${key}` } });

  test("the provider fails after a draft, and keeps the completed steps", async () => {
    const { rb, read, requests } = await prepare(document("one"), refusal(503));
    const { exitCode, stderr } = await rb([...flowmark, "--retries", "0"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `${progressOf(3, false)}\n${WAITING_FOR_2}\nrb: The model API returned 503. No: [key]`,
    });
    expect(requests).toHaveLength(2);
    expect(await read("final/final.md")).toBe("one");
    expect(await read("final/INVALID.txt")).toBe("The model API returned 503. No: [key]\n");
    expect(JSON.parse(await read("meta.json"))).toMatchObject({ ok: false, iterations: 1, error: "The model API returned 503. No: [key]" });
  });

  test("the provider exceeds its time limit", async () => {
    const { rb } = await prepare(() => {});
    const { exitCode, stderr } = await rb([...flowmark, "--retries", "0", "--timeout", "1"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/^iteration 1 of 3: waiting for openai small\nrb: The model API .* did not answer within 1000 ms\.$/),
    });
  });

  test("the tool does not exist", async () => {
    const { rb, exists, requests } = await prepare(document("one"));
    expect(await rb(flowmark, { PATH: "/usr/bin:/bin" })).toMatchObject({
      exitCode: 2,
      stderr: 'rb: The tool "flowmark" cannot be started: program not found.',
    });
    expect(exists()).toBe(false);
    expect(requests).toEqual([]);
  });

  test("the tool crashes during validation", async () => {
    const { rb, directory, read } = await prepare(document("one"));
    const tool = await writeTool(
      directory,
      `console.log("working"); if (process.argv[2] === "validate") process.kill(process.pid, "SIGSEGV");`,
    );
    expect(await rb(["--tool", tool.join(" "), "--describe", "x"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^iteration 1 of 3: waiting for openai small\nrb: The tool .* was ended by SIGSEGV\.$/),
    });
    expect(await read("final/final.md")).toBe("one");
    expect(await read("final/validation.log")).toMatch(/^No verdict: .*SIGSEGV\.\nworking\n$/);
    expect(JSON.parse(await read("meta.json"))).toMatchObject({ ok: false });
  });

  test("the tool exceeds its time limit", async () => {
    const { rb, directory } = await prepare(document("one"));
    await writeFile(path.join(directory, "tool.sh"), 'case "$1" in validate) sleep 1000 ;; *) echo x ;; esac');
    const { exitCode, stderr } = await rb(["--tool", "sh tool.sh", "--describe", "x", "--tool-timeout", "2"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("took longer than 2000 ms.") });
  });

  test("a material does not exist", async () => {
    const { rb, exists, requests } = await prepare(document("one"));
    expect(await rb([...flowmark, "--materials", "README.md", "missing.md"])).toMatchObject({
      exitCode: 2,
      stderr: 'rb: Cannot read the material "missing.md": file not found.',
    });
    expect(exists()).toBe(false);
    expect(requests).toEqual([]);
  });

  test("the directory contains a previous run", async () => {
    const { rb, requests } = await prepare(document("one\ntwo"));
    expect(await rb(flowmark)).toMatchObject({ exitCode: 0 });
    expect(await rb(flowmark)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("choose a new or an empty directory") });
    expect(requests).toHaveLength(1);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s stops it, and keeps the completed steps", async (signal) => {
    const { rb, exists, read } = await prepare(document("one"), () => {});
    const running = rb(flowmark);
    expect(await until(() => exists("iterations/iter-02/prompt.json"), 15_000)).toBe(true);
    running.kill(signal);
    expect(await running).toMatchObject({ exitCode: 2, stderr: `${progressOf(3, false)}\n${WAITING_FOR_2}\nrb: Stopped by ${signal}.` });
    expect(await read("final/final.md")).toBe("one");
    expect(JSON.parse(await read("meta.json"))).toMatchObject({
      ok: false,
      error: `Stopped by ${signal}.`,
      finished_at: expect.any(String),
    });
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s stops it and the tool, and keeps the completed steps", async (signal) => {
    const { rb, directory, read } = await prepare(document("one"));
    await writeFile(path.join(directory, "tool.sh"), 'case "$1" in validate) echo $$ > pid; exec sleep 1000 ;; *) echo x ;; esac');
    const running = rb(["--tool", "sh tool.sh", "--describe", "x"]);
    const pid = async (): Promise<number> => Number(await readFile(path.join(directory, "pid"), "utf8").catch(() => ""));
    expect(await until(async () => (await pid()) > 0, 15_000)).toBe(true);
    running.kill(signal);
    expect(await running).toMatchObject({ exitCode: 2, stderr: `iteration 1 of 3: waiting for openai small\nrb: Stopped by ${signal}.` });
    expect(await read("final/final.md")).toBe("one");
    expect(JSON.parse(await read("meta.json"))).toMatchObject({ ok: false, error: `Stopped by ${signal}.` });
    const tool = await pid();
    expect(() => process.kill(tool, 0)).toThrow("ESRCH");
  });
});

/** Runs the command line with each of the arguments in one process, because a start takes longer than a run. */
async function runAll(cwd: string, commands: readonly string[][]): Promise<{ exitCode: number; stdout: string; stderr: string }[]> {
  const script = `import { runCli } from ${JSON.stringify(new URL("../src/run-cli.ts", import.meta.url).href)};
    import { writeSync } from "node:fs";
    const results = [];
    for (const args of ${JSON.stringify(commands)}) {
      const result = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"]) process[name].write = (text) => { result[name] += text; return true; };
      const exitCode = await runCli(args, { env: process.env, signal: new AbortController().signal });
      results.push({ exitCode, ...result });
    }
    writeSync(1, JSON.stringify(results));`;
  const env = { PATH: "/usr/bin:/bin", ...compileCache, OPENAI_API_KEY: key };
  const { stdout } = await execa(process.execPath, ["--input-type=module", "--eval", script], { cwd, env, extendEnv: false });
  return JSON.parse(stdout);
}

describe("wrong usage is reported", () => {
  const whole = ["run", "--tool", "flowmark", "--model", "m", "--out", "x"];

  const wrong: readonly (readonly [name: string, args: string[], words: string])[] = [
    ["no command", [], "Usage: rb"],
    ["an unknown command", ["walk"], "unknown command 'walk'"],
    ["no tool", ["run", "--model", "m", "--out", "x"], "required option '--tool <name>' not specified"],
    ["no directory", ["run", "--tool", "flowmark", "--model", "m"], "required option '--out <directory>' not specified"],
    ["no model", ["run", "--tool", "flowmark", "--out", "x"], "rb: --model is required with --provider openai."],
    ["an empty model", [...whole, "--model", ""], "rb: --model is required with --provider openai."],
    ["an empty directory", [...whole, "--out", ""], "rb: --out must name a directory."],
    [
      "another variable without a key",
      [...whole, "--key-env", "OTHER_KEY"],
      "rb: No API key: set the environment variable OTHER_KEY, which --key-env names.",
    ],
    [
      "no topic of another tool",
      ["run", "--tool", "lint", "--model", "m", "--out", "x"],
      "rb: This tool needs --describe with a topic, or the description itself in --describe-text or --describe-file",
    ],
    [
      "two descriptions",
      [...whole, "--describe", "x", "--describe-text", "y"],
      "option '--describe-text <text>' cannot be used with option '--describe <topic>'",
    ],
    ["a description file that does not exist", [...whole, "--describe-file", "nowhere.md"], "rb: --describe-file cannot be read: ENOENT"],
    ["an empty description", [...whole, "--describe-text", " "], "rb: --describe-text is empty."],
    ["an empty topic", [...whole, "--describe", " "], "rb: --describe is empty."],
    ["an empty tool", ["run", "--tool", "", "--describe", "x", "--model", "m", "--out", "x"], "rb: The command of the tool is empty."],
    ["an unknown option", [...whole, "--upload"], "unknown option '--upload'"],
    ["an extra argument", [...whole, "README.md"], "too many arguments"],
    ["materials without a name", [...whole, "--materials"], "argument missing"],
    ["an unknown provider", [...whole, "--provider", "other"], "Allowed choices are openai, bridge."],
    ["no iterations", [...whole, "--max-iter", "0"], "It must be an integer of at least 1."],
    ["too many iterations", [...whole, "--max-iter", "101"], "rb: maxIterations must be an integer from 1 to 100."],
    [
      "exit codes that are not numbers",
      [...whole, "--valid-exit-codes", "all"],
      "It must be a list of numbers separated by commas, such as 0,1.",
    ],
    [
      "flags that flowmark does not support",
      [...whole, "--validate", "lint"],
      "rb: --validate and --valid-exit-codes cannot be used with --tool flowmark",
    ],
    ["a wrong address", [...whole, "--url", "localhost"], "rb: The base URL must be an http or https URL"],
    ["Bridge without an address", [...whole, "--provider", "bridge"], "rb: --provider bridge needs the address of Bridge"],
    ["Bridge at an empty address", [...whole, "--provider", "bridge", "--url", ""], "rb: --provider bridge needs the address of Bridge"],
    ["Bridge without a token", [...whole, "--provider", "bridge", "--url", "http://127.0.0.1"], "rb: No token: set BRIDGE_TOKEN"],
  ];

  test("wrong usage is reported with exit code 2 and without a stack trace, and writes no file", async () => {
    const directory = await temporaryDirectory();
    const printed = await runAll(
      directory,
      wrong.map(([, args]) => args),
    );
    const expected = wrong.map(([name, , words]) => ({ name, exitCode: 2, stdout: "", stderr: expect.stringContaining(words) }));
    expect(printed.map((result, index) => ({ name: wrong[index]?.[0], ...result }))).toEqual(expected);
    for (const { stderr } of printed) expect(stderr).not.toMatch(/^ +at /m);
    expect(await readdir(directory)).toEqual([]);
  });

  test("no key", async () => {
    const { stderr, exitCode } = await startRb(await temporaryDirectory(), whole);
    expect({ stderr, exitCode }).toEqual({ stderr: "rb: No API key: set OPENAI_API_KEY.", exitCode: 2 });
  });

  test("the key is read from the variable that --key-env names, and the address from --url", async () => {
    const { rb, requests, url } = await prepare(document("one\ntwo"));
    const env = { OPENAI_API_KEY: "wrong", OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OTHER_KEY: "other" };
    expect(await rb([...flowmark, "--url", `${url}/v1`, "--key-env", "OTHER_KEY"], env)).toMatchObject({ exitCode: 0 });
    expect(requests[0]?.headers["authorization"]).toBe("Bearer other");
  });

  test("--help and --version exit with code 0", async () => {
    const help = await startRb("/", ["run", "--help"]);
    expect(help).toMatchObject({ exitCode: 0, stderr: "" });
    expect(help.stdout).toContain("--materials <files...>");
    expect(await startRb("/", ["--version"])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  });
});

test("rb run passes on the temperature, and rejects one that is not from 0 to 2", async () => {
  const { rb, requests } = await prepare(document("one\ntwo"));
  expect(await rb([...flowmark, "--temperature", "2.5"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("It must be a number from 0 to 2, for example 0.2."),
  });
  expect(await rb([...flowmark, "--provider", "bridge", "--temperature", "0.2"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--temperature requires --provider openai"),
  });
  expect(requests).toEqual([]);
  expect(await rb([...flowmark, "--temperature", "0.2"])).toMatchObject({ exitCode: 0 });
  expect(requests.map(({ body }) => JSON.parse(String(body)) as object)).toMatchObject([{ temperature: 0.2 }]);
});
