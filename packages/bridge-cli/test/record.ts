import { expect } from "vitest";
import { type CliOptions, runCli, runOnTerminal } from "./start-cli.ts";

/**
 * Runs a command on a terminal and in a pipe, each with its own options. Returns what both print, without what differs between runs, such
 * as times and addresses.
 */
export async function record(args: readonly string[], optionsOf: (run: "terminal" | "pipe") => CliOptions): Promise<string> {
  const [terminal, pipe] = await Promise.all([runOnTerminal(args, optionsOf("terminal")), runCli(args, optionsOf("pipe"))]);
  expect(pipe.exitCode).toBe(terminal.exitCode);
  const recording = [
    `$ brg ${args.join(" ").replaceAll(`${import.meta.dirname}/`, "")}`,
    `exit code ${pipe.exitCode}`,
    "--- terminal",
    mask(terminal.shown),
    "--- stdout of a pipe",
    maskDurations(mask(pipe.stdout)),
    "--- stderr of a pipe",
    mask(pipe.stderr),
  ];
  return `${recording.join("\n")}\n`;
}

/** Replaces what differs between runs. Columns are as wide as their values, so their width is replaced too. */
function mask(text: string): string {
  return omitScreen(text)
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.split(CLEAR_LINE).at(-1))
    .join("\n")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "<time>")
    .replaceAll(/^\d\d:\d\d:\d\d/gm, "<clock>")
    .replaceAll(/\b(now|\d+ (s|min) ago)\b/g, "<age>")
    .replaceAll(/\bin \d+ (s|min)\b/g, "<soon>")
    .replaceAll(/\b[\d.]+ (ms|s)\b/g, "<duration>")
    .replaceAll(/"durationMs":[\d.]+/g, '"durationMs":<ms>')
    .replaceAll(/"id":"\w+-\d+"/g, '"id":"<event>"')
    .replaceAll(/apr_[\w-]+/g, "<approval>")
    .replaceAll(/\/\S*\/(bridge-test-\w+)/g, "<directory>")
    .replaceAll(`${import.meta.dirname}/`, "")
    .replaceAll(/\bNode \d+\.\d+\.\d+/g, "Node <version>")
    .replaceAll(/\b(batch-)[0-9a-f]{16}/g, "$1<hash>")
    .replaceAll(/lnk_[\w-]+/g, "<ticket>")
    .replaceAll(/\bbridge_[\w-]{43}/g, "<token>")
    .replaceAll(/\b[0-9a-f]{64}\b/g, "<sha256>")
    .replaceAll(/\b[0-9a-f]{40}\b/g, "<commit>")
    .replaceAll(/^(epoch\s+)[0-9a-f]{10}$/gm, "$1<epoch>")
    .replaceAll(/^(bytes\s+)\d+$/gm, "$1<bytes>")
    .replaceAll(/^(schemaVersion\s+)\d+( \(this Bridge: )?(?:\d+)?/gm, "$1<version>$2")
    .replaceAll(/127\.0\.0\.1:\d{4,}/g, "<address>")
    .replaceAll(/\b0\.1\.0\b/g, "<version>")
    .replaceAll(/ {2,}/g, "  ")
    .trimEnd();
}
const CLEAR_LINE = "\r\u001b[2K";

/** Removes what the second buffer of the terminal shows. */
function omitScreen(text: string): string {
  const start = text.indexOf("\u001b[?1049h");
  return start < 0 ? text : `${text.slice(0, start)}<screen>\n${text.slice(text.lastIndexOf(CLOSE_SCREEN) + CLOSE_SCREEN.length)}`;
}
const CLOSE_SCREEN = "\u001b[?1049l";

/** The numbers of milliseconds in lines of tab-separated values: of tasks, of one task, of an attempt, and of sums. */
const maskDurations = (text: string): string =>
  text
    .replaceAll(/^((?:[^\t\n]*\t){4}<time>\t)\d+\t/gm, "$1<ms>\t")
    .replaceAll(/^took\t\d+$/gm, "took\t<ms>")
    .replaceAll(/^(\d+\t<time>\t500\t)\d+\t/gm, "$1<ms>\t")
    .replaceAll(/^([^\t\n]+(?:\t\d+){4}\t)\d+\t/gm, "$1<ms>\t");
