import path from "node:path";
import { fileURLToPath } from "node:url";
import { type ExecutionRequest, settingsSchema, stringifyWellFormed } from "#contract";
import { commandSettings } from "./settings.ts";

const commandSettingsSchema = settingsSchema(commandSettings);

/** The default program, which needs no key, model or network. */
const EXAMPLE_AGENT = [process.execPath, fileURLToPath(new URL("../../examples/agents/file-report.js", import.meta.url))];

/** How to start the program; the same for every task. */
export interface CommandCall {
  argv: readonly string[];
  /** Whether the program asks for approvals. */
  asks: boolean;
  /** The whole environment of the program, except HOME, TMPDIR and the task marker. */
  env: Readonly<Record<string, string>>;
}

/** Creates the call from the settings. The program receives only the listed variables, PATH and LANG. */
export function createCommandCall(settings: unknown, env: Readonly<Record<string, string | undefined>>): CommandCall {
  const { argv = EXAMPLE_AGENT, approvals: asks, env: names } = commandSettingsSchema.parse(settings);
  const inherited = ["PATH", "LANG", ...names].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return {
    argv: resolveProgram(argv),
    asks,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", ...Object.fromEntries(inherited) },
  };
}

/** Serializes the request as one JSON document for the program's stdin. */
export const formatProgramInput = (request: ExecutionRequest): string => `${stringifyWellFormed(request)}\n`;

/** Resolves a relative program path against Bridge's working directory, so that an agent cannot supply the program in its workspace. */
function resolveProgram([program = "", ...programArguments]: readonly string[]): string[] {
  return [program.includes(path.sep) ? path.resolve(program) : program, ...programArguments];
}
