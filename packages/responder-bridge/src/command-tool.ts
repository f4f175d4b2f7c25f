import { createProgram, type ProgramOptions, type ProgramRun } from "./program.ts";
import { ResponderError } from "./responder-error.ts";
import type { ToolAdapter, ToolOptions } from "./tool-adapter.ts";

/** Is the document valid? Null: the run tells neither, something else went wrong. */
export type Verdict = (run: ProgramRun) => boolean | null;

/** What a program is called with for each question. */
export interface CommandToolOptions extends ProgramOptions {
  /** Before the topic. Default: `describe`. */
  describe?: readonly string[] | undefined;
  /** Before the topic; null: the program has no params. Default: `params`. */
  params?: readonly string[] | null | undefined;
  /** `{file}` becomes the path of the document; without it the path comes last. Default: `validate`. */
  validate?: readonly string[] | undefined;
  /** Tells the version; null: it is not asked. Default: `--version`. */
  version?: readonly string[] | null | undefined;
  /** Default: exit code 0 is valid, every other one is not. */
  verdict?: Verdict | undefined;
}

const FILE_PLACEHOLDER = "{file}";
/** No program needs longer for its version, and no version is longer. */
const VERSION_TIMEOUT_MS = 5_000;
const VERSION_LENGTH = 200;

/** Creates a tool of any program. */
export function createCommandTool(options: CommandToolOptions): ToolAdapter {
  const { describe = ["describe"], params = ["params"], validate = ["validate"], version = ["--version"] } = options;
  const { verdict = exitCodeVerdict() } = options;
  const program = createProgram(options);

  async function ask(question: readonly string[], topic: string, { arguments: more = [], signal }: ToolOptions = {}): Promise<string> {
    const { exitCode, stdout, output } = await program.run([...question, topic, ...more], { signal });
    if (exitCode === 0) return stdout;
    const call = [program.name, ...question, topic].join(" ");
    throw new ResponderError("tool_failed", `\`${call}\` exited with code ${exitCode}: ${endOf(output)}`, { output });
  }

  async function describeTopic(topic: string, more?: ToolOptions): Promise<string> {
    const text = await ask(describe, topic, more);
    if (text.trim() !== "") return text;
    throw new ResponderError("tool_failed", `The tool ${JSON.stringify(program.name)} has nothing to say about ${JSON.stringify(topic)}.`, {
      output: text,
    });
  }

  return {
    name: program.name,
    describe: describeTopic,
    ...(params !== null && { params: async (topic: string, more?: ToolOptions) => (await ask(params, topic, more)) || null }),
    async validate(filePath, { signal } = {}) {
      const run = await program.run(placeFile(validate, program.pathFor(filePath)), { signal });
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

/** Goes by the exit code. With `invalid`, a code of neither list is no verdict: the tool has failed. */
export function exitCodeVerdict({ valid = [0], invalid }: { valid?: readonly number[]; invalid?: readonly number[] } = {}): Verdict {
  return ({ exitCode }) => {
    if (valid.includes(exitCode)) return true;
    return invalid === undefined || invalid.includes(exitCode) ? false : null;
  };
}

function placeFile(args: readonly string[], file: string): string[] {
  if (!args.some((one) => one.includes(FILE_PLACEHOLDER))) return [...args, file];
  return args.map((one) => one.replaceAll(FILE_PLACEHOLDER, () => file));
}

/** What an error shows of a program's words: the end, where the reason stands. */
const endOf = (output: string): string => output.trim().slice(-1_000) || "it wrote nothing";
