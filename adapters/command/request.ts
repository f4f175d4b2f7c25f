import path from "node:path";
import { fileURLToPath } from "node:url";
import { type ExecutionRequest, settingsSchema } from "#contract";
import { commandSettings } from "./settings.ts";

const commandSettingsSchema = settingsSchema(commandSettings);

/** The example agent: works without a key, a model or a network. */
const exampleAgent = [process.execPath, fileURLToPath(new URL("../../examples/agents/file-report.js", import.meta.url))];

/** How the program is called, the same for every task. */
export interface CommandCall {
  argv: readonly string[];
  /** What it may see of Bridge's environment. */
  env: Readonly<Record<string, string>>;
}

/** Turns settings into a call; everything that is not listed stays behind. */
export function commandCall(settings: unknown, env: Readonly<Record<string, string | undefined>>): CommandCall {
  const { argv = exampleAgent, env: names } = commandSettingsSchema.parse(settings);
  const inherited = ["PATH", "LANG", ...names].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return { argv: fromHere(argv), env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", ...Object.fromEntries(inherited) } };
}

/** What the program reads: the whole request, one JSON document. */
export const programInput = (request: ExecutionRequest): string => `${JSON.stringify(request)}\n`;

/** A relative program is meant from where Bridge was started; the workspace, where agents write, must not supply it. */
function fromHere([program = "", ...programArguments]: readonly string[]): string[] {
  return [program.includes(path.sep) ? path.resolve(program) : program, ...programArguments];
}
