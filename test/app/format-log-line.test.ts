import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../src/app/create-logger.ts";
import { formatLogLine } from "../../src/app/format-log-line.ts";
import { startBridgeProgram } from "../support/bridge-program.ts";
import { openTerminal } from "../support/open-terminal.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const start = path.resolve(import.meta.dirname, "../../src/start.js");

/** Logs with Bridge's logger, and returns what it writes for people. */
function format(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLogger("trace", destination, (line) => formatLogLine(line, { hasColors: false })));
  return lines.join("").replaceAll(/^\d\d:\d\d:\d\d\.\d{3} /gm, "");
}

test.each([
  ["the level, the message and the fields", { provider: "claude", attempts: 2 }, "INFO  adapter health provider=claude attempts=2\n"],
  ["text with spaces in quotes", { detail: "not found" }, 'INFO  adapter health detail="not found"\n'],
  ["lists and objects as JSON", { adapters: ["a"], limits: { b: 1 } }, 'INFO  adapter health adapters=["a"] limits={"b":1}\n'],
  ["no field without a value", { detail: null, count: 0 }, "INFO  adapter health count=0\n"],
  ["text that looks like another line in one line", { detail: "a\nINFO b" }, 'INFO  adapter health detail="a\\nINFO b"\n'],
])("a log line for people has %s", (_name, fields, expected) => {
  expect(format((logger) => logger.info(fields, "adapter health"))).toBe(expected);
});

test("a log line for people has the stack of an error below it, indented", () => {
  const text = format((logger) => logger.error({ err: Object.assign(new Error("It broke."), { code: "EIO" }) }, "write failed"));
  expect(text).toMatch(/^ERROR write failed \n {4}Error: It broke\.\n {8}at .+\n/);
  expect(text).toMatch(/\n {4}code=EIO\n$/);
  expect(text.trimEnd().split("\n").slice(1)).toSatisfy((lines: string[]) => lines.every((line) => line.startsWith("    ")));
});

test("a log line for people contains no character that a terminal executes or hides, and no forged line", () => {
  const hostile = "\u001b[2J \u009b2J \u202eevil\u2028\u200b\u007f Grüße 漢字 🙂";
  const text = format((logger) => logger.child({ detail: hostile }).warn({ [`${hostile}\nINFO`]: hostile }, `${hostile}\nERROR forged`));
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(text.trimEnd().split("\n").slice(1)).toSatisfy((lines: string[]) => lines.every((line) => line.startsWith("    ")));
  expect(text).toContain("Grüße 漢字 🙂");
});

async function startOnTerminal(settings: Record<string, string>) {
  const directory = await temporaryDirectory();
  const env = {
    PATH: "/usr/bin:/bin",
    SHELL: "/bin/sh",
    TERM: "xterm-256color",
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: directory,
    ...settings,
  };
  return openTerminal([process.execPath, start], { cwd: directory, env });
}

test("on a terminal, Bridge writes its log for people, and the sign-in link comes after the lines of the start", async () => {
  const terminal = await startOnTerminal({});
  await terminal.waitFor(/#t=lnk_/);
  const shown = stripVTControlCharacters(terminal.shown());
  expect(shown).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}listening address=http:\/\/127\.0\.0\.1:\d+ /m);
  expect(shown).not.toContain('{"level"');
  expect(shown).toMatch(/stored it in [\s\S]+\n\r?\n {2}bridge_[\w-]+\r\n\r\n[\s\S]+ configuration [\s\S]+\r\n\r\nConsole \(/);
});

test("a terminal gets JSON if the setting requires it", async () => {
  const terminal = await startOnTerminal({ BRIDGE_LOG_FORMAT: "json" });
  await terminal.waitFor(/#t=lnk_/);
  expect(terminal.shown()).toMatch(/^\{"level":30,.*"msg":"listening"\}\r$/m);
});

test("without a terminal, Bridge writes JSON, or text without colors if the setting requires it", async () => {
  // This helper parses each line as JSON.
  const bridge = await startBridgeProgram(await temporaryDirectory());
  expect(bridge.log).toContainEqual(expect.objectContaining({ msg: "listening" }));
  const directory = await temporaryDirectory();
  const env = { PATH: "/usr/bin:/bin", BRIDGE_PORT: "0", BRIDGE_DATA_DIR: directory, BRIDGE_LOG_FORMAT: "text" };
  const child = spawn(process.execPath, [start], { cwd: directory, env, stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}listening address=http:\S+ docs=/);
});
