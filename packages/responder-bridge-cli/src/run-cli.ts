import { CommanderError } from "commander";
import { createCommand } from "./create-command.ts";
import { type RunContext, run } from "./run.ts";

/** What a call ended with: the document is valid; it is not; the call or something on the way was wrong. */
const exitCodes = { valid: 0, invalid: 1, error: 2 } as const;

/** Does what the arguments say, and answers the exit code. Every error is a line on stderr. */
export async function runCli(args: readonly string[], context: RunContext): Promise<number> {
  let isValid = true;
  const command = createCommand(async (options) => {
    isValid = await run(options, context);
  });
  try {
    await command.parseAsync(args, { from: "user" });
    return isValid ? exitCodes.valid : exitCodes.invalid;
  } catch (error) {
    // Commander has told its own ones, and ends so for --help too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.valid : exitCodes.error;
    console.error(`rb: ${error instanceof Error ? error.message : String(error)}`);
    return exitCodes.error;
  }
}
