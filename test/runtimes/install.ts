import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { runtimesPath } from "./programs.ts";

/** The package of each program. */
const packageOf = {
  claude: "@anthropic-ai/claude-code",
  codex: "@openai/codex",
  gemini: "@google/gemini-cli",
  openclaw: "openclaw",
  opencode: "opencode-ai",
  qwen: "@qwen-code/qwen-code",
  "claude-agent-acp": "@agentclientprotocol/claude-agent-acp",
  "codex-acp": "@agentclientprotocol/codex-acp",
};

/** Only these packages link their native program in an install script. No other script runs, because some need a compiler. */
const linkedPackages = [packageOf.claude, packageOf.opencode];

const directory = path.join(import.meta.dirname, "programs");
const stamp = path.join(directory, "node_modules/.checked");
const lockHash = createHash("sha256")
  .update(readFileSync(path.join(directory, "package-lock.json")))
  .digest("hex");

if (process.env["BRIDGE_TEST_RUNTIMES_BIN"] !== undefined) {
  await checkPrograms();
} else if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lockHash) {
  console.log("Installing the agent programs, about 1.7 GB …");
  const options = { cwd: directory, stdio: "inherit" } as const;
  await execa("npm", ["ci"], options);
  await execa("npm", ["rebuild", "--ignore-scripts=false", ...linkedPackages], options);
  await checkPrograms();
  writeFileSync(stamp, lockHash);
}

/** Ends the process with a message if a program is missing or has another version than the tested one. */
async function checkPrograms(): Promise<void> {
  const { dependencies } = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  // Some programs write to their home even when they print their version.
  const home = mkdtempSync(path.join(tmpdir(), "bridge-runtimes-"));
  const faults = await Promise.all(
    Object.entries(packageOf).map(async ([program, packageName]) => {
      const file = path.join(runtimesPath(), program);
      if (!existsSync(file)) return [`${program} is missing.`];
      const { stdout, shortMessage } = await execa(file, ["--version"], {
        env: { HOME: home },
        stdin: "ignore",
        timeout: 60_000,
        reject: false,
      });
      if (shortMessage !== undefined) return [`${program}: ${shortMessage}.`];
      const pinned = dependencies[packageName] ?? "";
      return stdout.split(/\s/).includes(pinned) ? [] : [`${program}: it says "${stdout}", and ${pinned} is the version that was tested.`];
    }),
  );
  rmSync(home, { recursive: true, force: true });
  if (faults.flat().length === 0) return;
  console.error(`Not every agent program is there as it was tested:\n${faults.flat().join("\n")}`);
  process.exit(1);
}
