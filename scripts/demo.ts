import { parseArgs } from "node:util";
import { describeError } from "./demo/describe-error.ts";
import { createScreen } from "./demo/screen.ts";
import { runDemo } from "./demo/story.ts";

const usage = `Usage: npm run demo [-- --keep]

Starts Bridge and a receiver of callbacks, dispatches the example agent, and shows what happens.

  --keep   leave Bridge running afterwards, with commands to try, until Ctrl-C
  --help   show this text
`;

const exitCodes: Record<string, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const EXIT_CODE_OF_BROKEN_PIPE = 141;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === null) return 2;
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const stop = new AbortController();
  // Never `once`: a second Ctrl-C must not leave Bridge and its directory behind.
  for (const signal of Object.keys(exitCodes)) process.on(signal, () => stop.abort(exitCodes[signal]));
  // Nobody looks any more: `npm run demo | head`, or a terminal that was closed.
  process.stdout.on("error", () => stop.abort(EXIT_CODE_OF_BROKEN_PIPE));
  try {
    await runDemo(createScreen(process.stdout), { keep: options.keep, stop: stop.signal });
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return stop.signal.reason;
    process.stderr.write(`\nThe demo failed: ${describeError(error)}\n`);
    return 1;
  }
}

function readOptions(): { keep: boolean; help: boolean } | null {
  try {
    return parseArgs({
      options: { keep: { type: "boolean", default: false }, help: { type: "boolean", short: "h", default: false } },
    }).values;
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n\n${usage}`);
    return null;
  }
}
