import { CommanderError } from "commander";
import { createCommand } from "./create-command.ts";
import { type RunContext, run } from "./run.ts";

/** `valid` and `invalid` are about the document; `error` is any failure before a verdict. */
const EXIT_CODES = { valid: 0, invalid: 1, error: 2 } as const;

/** Runs `rb` with arguments and returns its exit code. Prints each error as one line on stderr. */
export async function runCli(args: readonly string[], context: RunContext): Promise<number> {
  let isValid = true;
  const command = createCommand(async (options) => {
    isValid = await run(options, context);
  });
  try {
    await command.parseAsync(args, { from: "user" });
    return isValid ? EXIT_CODES.valid : EXIT_CODES.invalid;
  } catch (error) {
    // Commander has printed its message already, and throws for --help and --version too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.valid : EXIT_CODES.error;
    console.error(`rb: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT_CODES.error;
  }
}
