import { createRequire } from "node:module";
import type { ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { findInstalledSdk, packageName } from "./sdk.ts";
import { packageDirectory } from "./settings.ts";

/** The version that the suite of real programs runs. */
const testedVersion = "0.3.328";

/** Where the SDK is, and the Claude Code that it runs: the package, and one for the platform that npm installs beside it. */
export function findSdk({ settings, env }: Pick<ProgramContext, "settings" | "env">): ProgramLookup {
  const directory = packageDirectory(settings);
  const sdk = findInstalledSdk(directory ?? import.meta.dirname);
  if (sdk === null) {
    const where = directory === undefined ? "with Bridge" : "in the directory of BRIDGE_CLAUDE_AGENT_SDK_PACKAGE";
    return {
      missing: `${packageName} is not installed ${where}: npm install --no-save ${packageName}@${testedVersion} there, or set BRIDGE_CLAUDE_AGENT_SDK_PACKAGE to the directory in which it is.`,
    };
  }
  const { command } = settings;
  const program = command === undefined ? programBeside(sdk.module) : findProgram(command, env["PATH"] ?? "");
  if (program !== null) return { argv: [program, sdk.module] };
  if (command !== undefined) return { missing: `${command}, which BRIDGE_CLAUDE_AGENT_SDK_COMMAND names, cannot be run.` };
  return {
    missing: `${packageName} ${sdk.version} is there without its program for this platform: npm install --no-save --include=optional ${packageName}@${sdk.version}, or set BRIDGE_CLAUDE_AGENT_SDK_COMMAND.`,
  };
}

function programBeside(module: string): string | null {
  const { resolve } = createRequire(module);
  // npm installs the one for the machine's C library alone.
  for (const libc of ["", "-musl"]) {
    try {
      return findProgram(resolve(`${packageName}-${process.platform}-${process.arch}${libc}/claude`), "");
    } catch {}
  }
  return null;
}
