import { parseArgs } from "node:util";
import { type DemoAgent, demoAgents, findInstalledAgent, listInstallCommands } from "./demo/agents.ts";
import { describeError } from "./demo/describe-error.ts";
import { runDemo } from "./demo/run-demo.ts";
import { runTreesDemo } from "./demo/run-trees-demo.ts";
import { createScreen } from "./demo/screen.ts";
import { ExplainedError } from "./demo/with-bridge.ts";

const usage = `Usage: npm run demo [-- [--provider NAME] [--keep] | --trees]

Starts Bridge and a callback receiver, dispatches a task, and prints what happens.

  --provider  the adapter: command (the default; an example agent that needs no model);
              claude, codex, gemini or opencode with your program and key; or
              installed, which chooses the first of these four programs on PATH
  --keep      keep Bridge running afterwards, print a link to the console and commands to try,
              and stop on Ctrl-C
  --trees     instead, let two tasks edit the same file of a git repository at once, each in its
              own work tree, and apply the commits of both
  --help      show this text
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
  const { agent } = options;
  if (agent === null) {
    const commands = listInstallCommands().map((command) => `  ${command}\n`);
    process.stderr.write(
      `No agent program is on PATH. Install one with Node 22 or newer, set its key, and run this command again:\n\n${commands.join("")}`,
    );
    return 1;
  }
  const stop = new AbortController();
  // Never `once`: a second Ctrl-C must not leave Bridge and its directory behind.
  for (const signal of Object.keys(exitCodes)) process.on(signal, () => stop.abort(exitCodes[signal]));
  // The reader has closed the output: `npm run demo | head`, or a closed terminal.
  process.stdout.on("error", () => stop.abort(EXIT_CODE_OF_BROKEN_PIPE));
  try {
    const screen = createScreen(process.stdout);
    if (options.trees) await runTreesDemo(screen, { stop: stop.signal });
    else await runDemo(screen, { ...options, agent, stop: stop.signal });
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return stop.signal.reason;
    process.stderr.write(error instanceof ExplainedError ? `\n${error.message}\n` : `\nThe demo failed: ${describeError(error)}\n`);
    return 1;
  }
}

/** Returns the options; their agent is null if the installed one is wanted and none is. Returns null for invalid options. */
function readOptions(): { agent: DemoAgent | null; keep: boolean; trees: boolean; help: boolean } | null {
  try {
    const { provider, ...values } = parseArgs({
      options: {
        provider: { type: "string", default: "command" },
        keep: { type: "boolean", default: false },
        trees: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
    if (values.trees && (values.keep || provider !== "command")) throw new Error("--trees cannot be used with --provider and --keep.");
    const agent = provider === "installed" ? findInstalledAgent(process.env) : demoAgents.get(provider);
    if (agent === undefined) throw new Error(`--provider must be one of ${[...demoAgents.keys()].join(", ")}, installed; got ${provider}.`);
    return { ...values, agent };
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n\n${usage}`);
    return null;
  }
}
