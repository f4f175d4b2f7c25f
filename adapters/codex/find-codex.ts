import { readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { findProgram } from "../shared/process/find-program.ts";

/** Looks for `codex`. */
export function findCodex({ settings, env }: ProgramContext): ProgramLookup {
  const name = settings.command ?? "codex";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program !== null) return { argv: [nativeProgram(program)] };
  return { missing: `${name} is not on the PATH: npm install -g @openai/codex, or set BRIDGE_CODEX_COMMAND.` };
}

/** Looks for `codex-acp`; behind it stands the `codex` that it is to use, where there is one: else it uses the one it brings along. */
export function findCodexAcp(context: ProgramContext): ProgramLookup {
  const { settings, env } = context;
  if (settings.home === "user")
    return {
      missing: "Not used with BRIDGE_CODEX_HOME=user: only over cli can Codex leave aside the settings, rules and hooks in your home.",
    };
  const name = settings.acpCommand ?? "codex-acp";
  const program = findProgram(name, env["PATH"] ?? "");
  if (program === null)
    return { missing: `${name} is not on the PATH: npm install -g @agentclientprotocol/codex-acp, or set BRIDGE_CODEX_ACP_COMMAND.` };
  const codex = findCodex(context);
  return { argv: [program, ...("argv" in codex ? codex.argv : [])] };
}

/** The program itself where npm has put a script of Node.js before it, which would only be one more process to stop. */
function nativeProgram(program: string): string {
  const script = realpathSync(program);
  if (path.basename(script) !== "codex.js") return program;
  try {
    const platformPackage = `@openai/codex-${process.platform}-${process.arch}/package.json`;
    const vendor = path.join(path.dirname(createRequire(script).resolve(platformPackage)), "vendor");
    const natives = readdirSync(vendor).map((target) => findProgram(path.join(vendor, target, "bin", "codex"), ""));
    return natives.find((native) => native !== null) ?? program;
  } catch {
    // Another layout than the known one: the script finds its program.
    return program;
  }
}
