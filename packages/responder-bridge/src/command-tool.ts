import { createProgram, type ProgramOptions, type ProgramRun } from "./program.ts";
import { ResponderError } from "./responder-error.ts";
import type { ToolAdapter, ToolOptions } from "./tool-adapter.ts";

/** Returns whether the document is valid; null when the run gives no verdict because the program failed. */
export type Verdict = (run: ProgramRun) => boolean | null;

/** Arguments of the program for each operation. */
export interface CommandToolOptions extends ProgramOptions {
  /** Arguments before the topic. Default: `describe`. */
  describe?: readonly string[] | undefined;
  /** Arguments before the topic; null: the program has no such command. Default: `params`. */
  params?: readonly string[] | null | undefined;
  /** `{file}` is replaced by the path of the document; without it the path is appended. Default: `validate`. */
  validate?: readonly string[] | undefined;
  /** Arguments that print the version; null: the version is not read. Default: `--version`. */
  version?: readonly string[] | null | undefined;
  /** Default: exit code 0 means valid, any other code means invalid. */
  verdict?: Verdict | undefined;
}

const FILE_PLACEHOLDER = "{file}";
/** Limits for reading the version: time, and characters of its first line. */
const VERSION_TIMEOUT_MS = 5_000;
const VERSION_LENGTH = 200;

/** Creates a tool that runs a program. */
export function createCommandTool(options: CommandToolOptions): ToolAdapter {
  const { describe = ["describe"], params = ["params"], validate = ["validate"], version = ["--version"] } = options;
  const { verdict = exitCodeVerdict() } = options;
  const program = createProgram(options);

  async function call(
    command: readonly string[],
    topic: string,
    { arguments: toolArguments = [], signal }: ToolOptions = {},
  ): Promise<string> {
    const { exitCode, stdout, output } = await program.run([...command, topic, ...toolArguments], { signal });
    if (exitCode === 0) return stdout;
    const commandLine = [program.name, ...command, topic].join(" ");
    throw new ResponderError("tool_failed", `\`${commandLine}\` exited with code ${exitCode}: ${endOf(output)}`, { output });
  }

  async function describeTopic(topic: string, toolOptions?: ToolOptions): Promise<string> {
    const text = await call(describe, topic, toolOptions);
    if (text.trim() !== "") return text;
    throw new ResponderError(
      "tool_failed",
      `The tool ${JSON.stringify(program.name)} returned no description of the topic ${JSON.stringify(topic)}.`,
      {
        output: text,
      },
    );
  }

  return {
    name: program.name,
    describe: describeTopic,
    ...(params !== null && {
      params: async (topic: string, toolOptions?: ToolOptions) => (await call(params, topic, toolOptions)) || null,
    }),
    async validate(filePath, { signal } = {}) {
      const run = await program.run(insertFile(validate, program.pathFor(filePath)), { signal });
      const ok = verdict(run);
      if (ok !== null) return { ok, logText: run.output };
      const { exitCode, output } = run;
      throw new ResponderError("tool_failed", `The tool gave no verdict; it exited with code ${exitCode}: ${endOf(output)}`, { output });
    },
    async version({ signal } = {}) {
      if (version === null) return null;
      const run = await program.run(version, { signal, timeoutMs: VERSION_TIMEOUT_MS }).catch(() => null);
      signal?.throwIfAborted();
      const [line = ""] = run?.exitCode === 0 ? run.output.trim().split("\n") : [];
      return line === "" ? null : line.slice(0, VERSION_LENGTH);
    },
  };
}

/** Creates a verdict from the exit code. If `invalid` is given, a code in neither list means that the tool failed. */
export function exitCodeVerdict({ valid = [0], invalid }: { valid?: readonly number[]; invalid?: readonly number[] } = {}): Verdict {
  return ({ exitCode }) => {
    if (valid.includes(exitCode)) return true;
    return invalid === undefined || invalid.includes(exitCode) ? false : null;
  };
}

function insertFile(args: readonly string[], file: string): string[] {
  if (!args.some((one) => one.includes(FILE_PLACEHOLDER))) return [...args, file];
  return args.map((one) => one.replaceAll(FILE_PLACEHOLDER, () => file));
}

/** The end of the output, which usually contains the reason of a failure. */
const endOf = (output: string): string => output.trim().slice(-1_000) || "no output";
