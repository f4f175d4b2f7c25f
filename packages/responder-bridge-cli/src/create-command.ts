import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { Command, InvalidArgumentError, Option } from "commander";

/** Flags of `rb run`. */
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
  temperature?: number;
  keyEnv: string;
  retries: number;
  timeout: number;
  agent: string;
  runtime?: string;
  out: string;
  maxIter: number;
}

/** Creates the command line parser of `rb`. It calls `run` with the flags if they are valid. */
export function createCommand(run: (flags: RunFlags) => Promise<void>): Command {
  const program = new Command("rb")
    .description("A model writes a document, a tool validates it, and the model corrects it until it is valid.")
    .version(readVersion())
    .showHelpAfterError("See `rb run --help`.")
    .exitOverride();
  program
    .command("run")
    .description(
      "Write one document. Exit codes: 0 the document is valid, 1 it is still invalid after the last iteration, 2 an error occurred.",
    )
    .requiredOption("--tool <name>", "flowmark, or the command of another tool, which is called with describe, params and validate")
    .option(
      "--describe <topic>",
      'topic and arguments for the describe command of the tool, for example "ai --lang en" (the default for flowmark)',
    )
    .addOption(
      new Option("--describe-text <text>", "format description, for a tool without a describe command").conflicts([
        "describe",
        "describeFile",
      ]),
    )
    .addOption(new Option("--describe-file <file>", "file with the format description").conflicts(["describe", "describeText"]))
    .option("--params <topic>", 'topic and arguments for the params command of the tool, for example "normalize --lang en"')
    .option("--materials <files...>", "text files to send to the model; no other file is read")
    .option("--validate <words>", 'arguments that validate a document; {file} is replaced by its path (default: "validate {file}")')
    .option("--valid-exit-codes <codes>", "exit codes for a valid document, separated by commas (default: 0)", parseExitCodes)
    .option("--tool-timeout <seconds>", "time limit of one tool call", createIntegerParser(1), 60)
    .addOption(new Option("--provider <name>", "program or API that calls the model").choices(["openai", "bridge"]).default("openai"))
    .option(
      "--url <address>",
      "openai: base URL of the API, with /v1 (default: OPENAI_BASE_URL, then OpenAI); bridge: URL of Bridge (default: BRIDGE_URL)",
    )
    .option("--model <name>", "model; required with openai, optional with bridge (default: the model of the agent)")
    .option("--temperature <number>", "openai: temperature of the model, from 0 to 2 (default: that of the API)", parseTemperature)
    .option("--key-env <name>", "openai: environment variable that holds the API key", "OPENAI_API_KEY")
    .option("--retries <n>", "openai: maximum number of retries of a failed request", createIntegerParser(0), 2)
    .option("--timeout <seconds>", "time limit of one model answer", createIntegerParser(1), 600)
    .option("--agent <id>", "bridge: agent that writes the document; the token is read from BRIDGE_TOKEN", "responder")
    .option("--runtime <provider>", "bridge: adapter that runs the agent")
    .requiredOption("--out <directory>", "directory for prompts, drafts, logs and the document; must be new or empty")
    .option("--max-iter <n>", "maximum number of drafts", createIntegerParser(1), 3)
    .action(run);
  return program;
}

function parseTemperature(text: string): number {
  if (/^[0-2](\.\d{1,6})?$/.test(text) && Number(text) <= 2) return Number(text);
  throw new InvalidArgumentError("It must be a number from 0 to 2, for example 0.2.");
}

function createIntegerParser(lowest: number) {
  return (text: string): number => {
    if (/^\d{1,6}$/.test(text) && Number(text) >= lowest) return Number(text);
    throw new InvalidArgumentError(`It must be an integer of at least ${lowest}.`);
  };
}

function parseExitCodes(text: string): number[] {
  if (/^\d{1,3}(,\d{1,3})*$/.test(text)) return text.split(",").map(Number);
  throw new InvalidArgumentError("It must be a list of numbers separated by commas, such as 0,1.");
}

/** Looks the manifest up, because its relative path differs between the source and the built package. */
function readVersion(): string {
  const file = findPackageJSON(import.meta.url);
  return file === undefined ? "unknown" : (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
