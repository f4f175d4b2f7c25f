import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type CommandToolOptions, createCommandTool, exitCodeVerdict } from "@hak2i/responder-bridge";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { until } from "../../../test/support/until.ts";
import { listTool, writeTool } from "./tools.ts";

/** A tool that prints its arguments and then runs the script. */
async function scripted(script: string, options: Partial<CommandToolOptions> = {}) {
  const cwd = await temporaryDirectory();
  return { cwd, tool: createCommandTool({ command: await writeTool(cwd, script), cwd, ...options }) };
}

const failed = { name: "ResponderError", code: "tool_failed" };
const sayArguments = "console.log(JSON.stringify(process.argv.slice(2)));";
const hostile = ["$(touch ran)", "; touch ran", "`touch ran`", "a b", "*", "'\"", "--flag", ""];

describe("a command tool is called", () => {
  test("a command tool is called with the command, the topic and the arguments, without a shell", async () => {
    const { tool, cwd } = await scripted(sayArguments);
    expect(JSON.parse(await tool.describe("a topic; touch ran", { arguments: hostile }))).toEqual([
      "describe",
      "a topic; touch ran",
      ...hostile,
    ]);
    expect(JSON.parse((await tool.params?.("normalize")) ?? "")).toEqual(["params", "normalize"]);
    expect(existsSync(path.join(cwd, "ran"))).toBe(false);
  });

  test.each<[string, Partial<CommandToolOptions>, string[]]>([
    ["appended", {}, ["validate", "./draft.md"]],
    ["in its own argument", { validate: ["lint", "{file}", "--strict"] }, ["lint", "./draft.md", "--strict"]],
    ["inside of an argument", { validate: ["--in={file}", "--again={file}"] }, ["--in=./draft.md", "--again=./draft.md"]],
    ["as the only argument", { validate: [] }, ["./draft.md"]],
  ])("a command tool is called with the path of the document %s", async (_, options, expected) => {
    const { tool, cwd } = await scripted(sayArguments, options);
    expect(JSON.parse((await tool.validate(path.join(cwd, "draft.md"))).logText)).toEqual(expected);
  });

  test("a command tool is called with an unchanged path that contains dollar signs, and with an absolute path outside the working directory", async () => {
    const { tool, cwd } = await scripted(sayArguments, { validate: ["{file}"] });
    expect(JSON.parse((await tool.validate(path.join(cwd, "$&/-x.md"))).logText)).toEqual(["./$&/-x.md"]);
    expect(JSON.parse((await tool.validate("/elsewhere/x.md")).logText)).toEqual(["/elsewhere/x.md"]);
  });

  test("a command tool is called with the configured environment only", async () => {
    const { tool } = await scripted("console.log(JSON.stringify(process.env));", { env: { ONE: "1" } });
    expect(Object.keys(JSON.parse(await tool.describe("x"))).filter((name) => !name.startsWith("__"))).toEqual(["ONE"]);
  });

  test("a command tool is called with params that return null when the output is empty", async () => {
    expect(await (await scripted("")).tool.params?.("x")).toBeNull();
  });

  test("without params if it has none", async () => {
    expect((await scripted("", { params: null })).tool.params).toBeUndefined();
  });
});

describe("the verdict of a command tool", () => {
  test.each<[string, Partial<CommandToolOptions>, string, boolean]>([
    ["is valid for exit code 0", {}, "process.exitCode = 0", true],
    ["is invalid for exit code 1", {}, "process.exitCode = 1", false],
    ["is invalid for any other exit code", {}, "process.exitCode = 70", false],
    ["is valid for a configured exit code", { verdict: exitCodeVerdict({ valid: [0, 3] }) }, "process.exitCode = 3", true],
    ["is invalid for exit code 0 if that is not configured", { verdict: exitCodeVerdict({ valid: [3] }) }, "process.exitCode = 0", false],
    ["is invalid for a code of `invalid`", { verdict: exitCodeVerdict({ invalid: [4] }) }, "process.exitCode = 4", false],
    [
      "is decided by a function of the output",
      { verdict: ({ stdout }) => stdout.includes("fine") },
      "console.log('fine'); process.exitCode = 9",
      true,
    ],
  ])("%s", async (_, options, script, ok) => {
    const { tool, cwd } = await scripted(script, options);
    expect((await tool.validate(path.join(cwd, "draft.md"))).ok).toBe(ok);
  });

  test("the verdict of a command tool contains stdout and stderr verbatim as the log", async () => {
    const { tool, cwd } = await scripted(
      `process.stdout.write("  out\\r\\n", () => process.stderr.write("err\\n\\n")); process.exitCode = 1`,
    );
    expect(await tool.validate(path.join(cwd, "draft.md"))).toEqual({ ok: false, logText: "  out\r\nerr\n\n" });
  });

  test("the verdict of a command tool is part of a complete round of describe, params and validate", async () => {
    const { tool, cwd } = await scripted(listTool(["one", "two"]));
    await mkdir(path.join(cwd, "deep"));
    await writeFile(path.join(cwd, "deep/draft.md"), "one");
    expect(await tool.describe("lists")).toBe("About lists\none\ntwo\n");
    expect(await tool.validate(path.join(cwd, "deep/draft.md"))).toEqual({ ok: false, logText: "missing: two\n" });
    expect(await tool.version?.()).toBe("list-tool 4.2");
  });

  test.each<[string, string, Partial<CommandToolOptions>, string | null]>([
    ["the first line of the output", "console.log('tool 1.2\\nmore')", {}, "tool 1.2"],
    ["unknown if the program fails", "process.exitCode = 1", {}, null],
    ["unknown if the output is empty", "", {}, null],
    ["cut to 200 characters", "console.log('v'.repeat(5000))", {}, "v".repeat(200)],
    ["not read if `version` is null", "console.log('1')", { version: null }, null],
  ])("the version is %s", async (_, script, options, version) => {
    expect(await (await scripted(script, options)).tool.version?.()).toBe(version);
  });
});

describe("a command tool rejects", () => {
  test.each<[string, string, Partial<CommandToolOptions>, string]>([
    ["after a crash", "process.kill(process.pid, 'SIGSEGV')", {}, "was ended by SIGSEGV"],
    ["after the time limit", "setInterval(() => {}, 1000)", { timeoutMs: 300 }, "took longer than 300 ms"],
    ["after the output limit", "process.stdout.write('x'.repeat(3000))", { maxOutputBytes: 2000 }, "wrote more than 2000 bytes"],
    ["after the default output limit", "setInterval(() => process.stdout.write('x'.repeat(1e5)), 0)", {}, "wrote more than 1048576 bytes"],
    [
      "a code that means neither",
      "console.log('boom'); process.exitCode = 7",
      { verdict: exitCodeVerdict({ invalid: [1] }) },
      "gave no verdict; it exited with code 7: boom",
    ],
    ["without a verdict", "", { verdict: () => null }, "gave no verdict; it exited with code 0: no output"],
  ])("%s", async (_, script, options, reason) => {
    const { tool, cwd } = await scripted(script, options);
    await expect(tool.validate(path.join(cwd, "draft.md"))).rejects.toMatchObject({ ...failed, message: expect.stringContaining(reason) });
  });

  test("a description with a nonzero exit code", async () => {
    const { tool } = await scripted("console.error('no such topic'); process.exitCode = 3");
    await expect(tool.describe("x")).rejects.toMatchObject({
      ...failed,
      message: expect.stringMatching(/ describe x` exited with code 3: no such topic$/),
      output: "no such topic\n",
    });
  });

  test("an empty description", async () => {
    const { tool } = await scripted("console.log()", { name: "silent" });
    await expect(tool.describe("x")).rejects.toMatchObject({
      ...failed,
      message: 'The tool "silent" returned no description of the topic "x".',
    });
  });

  test("a command tool rejects with the command and without the path of the tool", async () => {
    const { tool, cwd } = await scripted("process.exitCode = process.argv[2] === 'describe' ? 2 : process.kill(process.pid, 'SIGKILL')", {
      name: "lint",
    });
    await expect(tool.describe("x")).rejects.toThrow("`lint describe x` exited with code 2: no output");
    await expect(tool.validate(path.join(cwd, "x"))).rejects.toThrow('The tool "lint" was ended by SIGKILL.');
  });

  test("a program that does not exist", async () => {
    const tool = createCommandTool({ command: ["no-such-tool"] });
    const message = 'The tool "no-such-tool" cannot be started: program not found.';
    await expect(tool.describe("x")).rejects.toMatchObject({ ...failed, message });
    await expect(tool.validate("x")).rejects.toMatchObject({ ...failed, message });
    expect(await tool.version?.()).toBeNull();
  });

  test("an empty command and an argument with a NUL character", async () => {
    expect(() => createCommandTool({ command: [] })).toThrow("The command of the tool is empty.");
    await expect((await scripted("")).tool.describe("a\0b")).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("no process of the tool remains", () => {
  // It starts a child that outlives it unless it is stopped, and reports the process id of the child.
  const withChild = `
    const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    // Whole from its first moment, because the tool can be stopped between the creation of a file and its content.
    require("node:fs").writeFileSync("pid.new", String(child.pid));
    require("node:fs").renameSync("pid.new", "pid");
  `;
  const childIsGone = async (cwd: string): Promise<boolean> => {
    const { readFile } = await import("node:fs/promises");
    const pid = Number(await readFile(path.join(cwd, "pid"), "utf8"));
    expect(pid).toBeGreaterThan(1);
    return until(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    }, 5_000);
  };

  test("after an abort", async () => {
    const { tool, cwd } = await scripted(withChild);
    const controller = new AbortController();
    const validation = tool.validate("x", { signal: controller.signal });
    const rejected = expect(validation).rejects.toThrow("called off");
    expect(await until(() => existsSync(path.join(cwd, "pid")), 10_000)).toBe(true);
    controller.abort(new Error("called off"));
    await rejected;
    expect(await childIsGone(cwd)).toBe(true);
  });

  test("after the time limit", async () => {
    const cwd = await temporaryDirectory();
    const tool = createCommandTool({ command: ["sh", "-c", "sleep 1000 & echo $! > pid; wait"], cwd, timeoutMs: 1_000 });
    await expect(tool.validate("x")).rejects.toThrow("took longer");
    expect(await childIsGone(cwd)).toBe(true);
  });

  test("after its exit, although a child process holds the output open", async () => {
    const { tool, cwd } = await scripted(`${withChild} child.unref(); console.log("done"); setTimeout(() => process.exit(1), 100);`);
    expect(await tool.validate("x")).toEqual({ ok: false, logText: "done\n" });
    expect(await childIsGone(cwd)).toBe(true);
  });

  test("no process of the tool remains and none is started if the signal has aborted before", async () => {
    const { tool, cwd } = await scripted(withChild);
    await expect(tool.validate("x", { signal: AbortSignal.abort(new Error("called off")) })).rejects.toThrow("called off");
    expect(existsSync(path.join(cwd, "pid"))).toBe(false);
  });
});
