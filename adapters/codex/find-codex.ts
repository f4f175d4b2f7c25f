import { readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { ProgramContext, ProgramLookup } from "../shared/agent-program/agent-program.ts";
import { lookUpProgram } from "../shared/agent-program/look-up-program.ts";
import { findProgram } from "../shared/process/find-program.ts";

/** Finds `codex`. */
export function findCodex(context: ProgramContext): ProgramLookup {
  const advice = "Run npm install -g @openai/codex, or set BRIDGE_CODEX_COMMAND.";
  const found = lookUpProgram(context.settings.command ?? "codex", context, advice);
  return "missing" in found ? found : { argv: found.argv.map(resolveNativeProgram) };
}

/** Finds `codex-acp` and, as the second entry of `argv`, the `codex` that it should use. Without one it uses its bundled Codex. */
export function findCodexAcp(context: ProgramContext): ProgramLookup {
  if (context.settings.home === "user")
    return {
      missing:
        "Not available with BRIDGE_CODEX_HOME=user, because only the cli connection can ignore the settings, rules and hooks in your home directory.",
    };
  const advice = "Run npm install -g @agentclientprotocol/codex-acp, or set BRIDGE_CODEX_ACP_COMMAND.";
  const found = lookUpProgram(context.settings.acpCommand ?? "codex-acp", context, advice);
  if ("missing" in found) return found;
  const codex = findCodex(context);
  return { argv: [...found.argv, ...("argv" in codex ? codex.argv : [])] };
}

/** Resolves npm's launcher script to the native program, which saves one process per task. */
function resolveNativeProgram(program: string): string {
  const script = realpathSync(program);
  if (path.basename(script) !== "codex.js") return program;
  try {
    const platformPackage = `@openai/codex-${process.platform}-${process.arch}/package.json`;
    const vendor = path.join(path.dirname(createRequire(script).resolve(platformPackage)), "vendor");
    const natives = readdirSync(vendor).map((target) => findProgram(path.join(vendor, target, "bin", "codex"), ""));
    return natives.find((native) => native !== null) ?? program;
  } catch {
    // If the package has another layout, the launcher script finds the native program.
    return program;
  }
}
