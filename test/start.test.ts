import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { shellCommand, startBridgeProgram } from "./support/bridge-program.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

interface Report {
  packages: string[];
  youngBytes: number;
}

/** Packages that only some settings, adapters or requests need. Packages of this repository are named by their directory. */
const optionalPackages = [
  "@agentclientprotocol/sdk",
  "@ai-sdk/anthropic",
  "@ai-sdk/google",
  "@ai-sdk/mcp",
  "@ai-sdk/openai",
  "@ai-sdk/openai-compatible",
  "@fastify/cors",
  "@fastify/rate-limit",
  "@modelcontextprotocol/node",
  "@modelcontextprotocol/server",
  "ai",
  "bridge-cli",
  "council",
  "eventsource-parser",
  "execa",
  "responder-bridge",
  "responder-bridge-cli",
  "responder-bridge-openai",
];
/** The young generation has 4 MiB after a start of `src/start.js`, and up to 32 MiB if V8 may double it during the start. */
const MAX_YOUNG_BYTES = 16 * 1024 ** 2;

describe("an idle Bridge with the command adapter", () => {
  test("an idle Bridge with the command adapter has loaded no package that only some settings, adapters or requests need", async () => {
    const { packages } = await runUntilIdle();
    expect(packages).toContain("fastify");
    expect(packages.filter((name) => optionalPackages.includes(name))).toEqual([]);
  });

  test("an idle Bridge with the command adapter has a small young generation", async () => {
    const { youngBytes } = await runUntilIdle();
    expect(youngBytes).toBeLessThan(MAX_YOUNG_BYTES);
  });
});

describe("the file .env", () => {
  test.each([
    ["begins with a byte order mark", "\uFEFFBRIDGE_IDLE_SECONDS=none\n", "utf8", "BRIDGE_IDLE_SECONDS: must be"],
    ["is UTF-16", "BRIDGE_SANDBOX=required\n", "utf16le", ".env: is not UTF-8 text"],
  ] as const)("the file .env is not ignored if it %s", async (_, text, encoding, fault) => {
    const directory = await temporaryDirectory();
    await writeFile(path.join(directory, ".env"), text, encoding);
    await expect(startBridgeProgram(directory)).rejects.toThrow(fault);
  });

  test("the file .env is reported in one line if it is a directory", async () => {
    const directory = await temporaryDirectory();
    await mkdir(path.join(directory, ".env"));
    await expect(startBridgeProgram(directory)).rejects.toThrow(/\.env: is a directory.*rmdir \.env/);
  });
});

/** Starts Bridge, stops it after the first check of its adapter, and returns what it has loaded and allocated. */
async function runUntilIdle(): Promise<Report> {
  const directory = await temporaryDirectory();
  const file = path.join(directory, "report.json");
  const preload = pathToFileURL(path.join(import.meta.dirname, "fixtures/programs/report-at-exit.js"));
  const bridge = await startBridgeProgram(directory, {
    ...shellCommand("echo done"),
    NODE_OPTIONS: `--import ${preload}`,
    REPORT_FILE: file,
  });
  await expect.poll(() => bridge.log.some(({ msg }) => msg === "adapter health")).toBe(true);
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
  return JSON.parse(await readFile(file, "utf8")) as Report;
}
