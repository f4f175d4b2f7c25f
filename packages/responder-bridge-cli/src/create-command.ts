import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { Command, InvalidArgumentError, Option } from "commander";

/** `rb run`, as it was called. */
export interface RunFlags {
  tool: string;
  describe?: string;
  describeText?: string;
  describeFile?: string;
  params?: string;
  materials?: string[];
  validate?: string;
  validExitCodes?: number[];
  toolTimeout: number;
  provider: "openai" | "bridge";
  url?: string;
  model?: string;
  keyEnv: string;
  retries: number;
  timeout: number;
  agent: string;
  runtime?: string;
  out: string;
  maxIter: number;
}

/** Creates the command line of `rb`; `run` is called with what stands there, if it is right. */
export function createCommand(run: (flags: RunFlags) => Promise<void>): Command {
  const program = new Command("rb")
    .description("A model writes a document, a tool validates it, and the model mends it until it is valid.")
    .version(readVersion())
    .showHelpAfterError("See `rb run --help`.")
    .exitOverride();
  program
    .command("run")
    .description("Write one document. Exit code: 0 it is valid, 1 it is not after the last iteration, 2 something was wrong on the way.")
    .requiredOption("--tool <name>", "flowmark, or the command of any tool, in words: it is called with describe, params and validate")
    .option("--describe <topic>", 'what to ask the tool about, for example "ai --lang en" (the default for flowmark)')
    .addOption(
      new Option("--describe-text <text>", "the description of the format, for a tool that has no describe command").conflicts([
        "describe",
        "describeFile",
      ]),
    )
    .addOption(new Option("--describe-file <file>", "the same, from a file").conflicts(["describe", "describeText"]))
    .option("--params <topic>", 'which parameters to ask it for, for example "normalize --lang en"')
    .option("--materials <files...>", "text files for the model; only these are read, and sent to it")
    .option("--validate <words>", 'how the tool is called to validate, with {file} for the document (default: "validate {file}")')
    .option("--valid-exit-codes <codes>", "exit codes of a valid document, with commas (default: 0)", readExitCodes)
    .option("--tool-timeout <seconds>", "for one call of the tool", readWhole(1), 60)
    .addOption(new Option("--provider <name>", "who calls the model").choices(["openai", "bridge"]).default("openai"))
    .option("--url <address>", "of the API with its /v1 (default: OPENAI_BASE_URL, or that of OpenAI), or of Bridge (BRIDGE_URL)")
    .option("--model <name>", "which model; with bridge the agent's own, unless said otherwise")
    .option("--key-env <name>", "openai: the environment variable that holds the key", "OPENAI_API_KEY")
    .option("--retries <n>", "openai: how often a request that failed is sent again", readWhole(0), 2)
    .option("--timeout <seconds>", "for one answer of the model", readWhole(1), 600)
    .option("--agent <id>", "bridge: which agent writes; the token is that of BRIDGE_TOKEN", "responder")
    .option("--runtime <provider>", "bridge: which of its adapters runs the agent")
    .requiredOption("--out <directory>", "for prompts, drafts, logs and the document; a new or an empty one")
    .option("--max-iter <n>", "how many drafts at most", readWhole(1), 3)
    .action(run);
  return program;
}

function readWhole(lowest: number) {
  return (text: string): number => {
    if (/^\d{1,6}$/.test(text) && Number(text) >= lowest) return Number(text);
    throw new InvalidArgumentError(`It has to be a whole number, ${lowest} or more.`);
  };
}

function readExitCodes(text: string): number[] {
  if (/^\d{1,3}(,\d{1,3})*$/.test(text)) return text.split(",").map(Number);
  throw new InvalidArgumentError("It has to be numbers with commas, such as 0,1.");
}

/** The package lies elsewhere once it is built. */
function readVersion(): string {
  const file = findPackageJSON(import.meta.url);
  return file === undefined ? "unknown" : (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
