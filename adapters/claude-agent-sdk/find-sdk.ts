import { createRequire } from "node:module";
import type { ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { findProgram } from "../shared/process/find-program.ts";
import { findInstalledSdk, packageName } from "./sdk.ts";
import { readPackageDirectory } from "./settings.ts";

/** The version that Bridge is tested with. */
const TESTED_VERSION = "0.3.328";

/**
 * Finds the Claude Code executable and the SDK's module, as the `argv` of the connection. npm installs the executable as a package per
 * platform.
 */
export function findSdk({ settings, env }: Pick<ProgramContext, "settings" | "env">): ProgramLookup {
  const directory = readPackageDirectory(settings);
  const sdk = findInstalledSdk(directory ?? import.meta.dirname);
  if (sdk === null) {
    const where = directory === undefined ? "with Bridge" : "in the directory of BRIDGE_CLAUDE_AGENT_SDK_PACKAGE";
    return {
      missing: `${packageName} is not installed ${where}. Run npm install --no-save ${packageName}@${TESTED_VERSION} there, or set BRIDGE_CLAUDE_AGENT_SDK_PACKAGE to the directory that contains it.`,
    };
  }
  const { command } = settings;
  const program = command === undefined ? findBundledProgram(sdk.module) : findProgram(command, env["PATH"] ?? "");
  if (program !== null) return { argv: [program, sdk.module] };
  if (command !== undefined) return { missing: `BRIDGE_CLAUDE_AGENT_SDK_COMMAND is ${command}, which is not an executable program.` };
  return {
    missing: `${packageName} ${sdk.version} is installed without its executable for this platform. Run npm install --no-save --include=optional ${packageName}@${sdk.version}, or set BRIDGE_CLAUDE_AGENT_SDK_COMMAND.`,
  };
}

function findBundledProgram(module: string): string | null {
  const { resolve } = createRequire(module);
  // npm installs only the package for this host's C library.
  for (const libc of ["", "-musl"]) {
    try {
      return findProgram(resolve(`${packageName}-${process.platform}-${process.arch}${libc}/claude`), "");
    } catch {}
  }
  return null;
}
