import { type Command, CommanderError } from "commander";
import { CommandError } from "./command-error.ts";
import type { Connection } from "./connection.ts";
import { createProgram, type SharedFlags } from "./create-program.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { findLocalVerbs } from "./find-local-verbs.ts";
import { createOutput, type Output } from "./output.ts";
import { programName } from "./program-name.ts";
import type { Invocation, VerbEntry, VerbTable } from "./verb.ts";
import * as ownTable from "./verb-table.ts";

/** The parts of the process that a command uses. */
type Host = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env" | "on" | "off" | "exit">;

/** Runs `bridge` with arguments and returns its exit code. */
export async function runCli(args: readonly string[], host: Host): Promise<ExitCode> {
  let exitCode: ExitCode | undefined;
  const table: VerbTable = { ...ownTable, local: await findLocalVerbs() };
  const program = createProgram(async (verb, verbArgs, options, shared) => {
    exitCode = await runVerb(verb, verbArgs, options, shared, host, table);
  }, table);
  // The reader of a pipe, such as `head`, can end first.
  host.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") host.exit(exitCodes.done);
    host.stderr.write(`${programName()}: Standard output cannot be written: ${error.message}.\n`);
    host.exit(exitCodes.failed);
  });
  // Output and exit code do not depend on progress messages, so the command continues if stderr cannot be written.
  host.stderr.on("error", () => {});
  try {
    await program.parseAsync(separateJsonFields(toHelpOption(args, program)), { from: "user" });
    return exitCode ?? exitCodes.done;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done;
    // Without a command, commander has printed the help.
    if (error.code === "commander.help") return exitCodes.usage;
    const usage = new CommandError("usage", error.message.replace(/^error: /, ""), {
      hint: `See: ${[...findCommand(program, args), "--help"].join(" ")}`,
    });
    const { reportError } = await import("./report-error.ts");
    const json = args.find((arg) => /^--json(=|$)/.test(arg)) === undefined ? undefined : "";
    return reportError(usage, createOutput(host, { json }), null);
  }
}

/** Returns the words of the command that the arguments name, for a hint. */
function findCommand(program: Command, args: readonly string[]): string[] {
  const names: string[] = [program.name()];
  let current = program;
  for (const arg of args) {
    const next = current.commands.find((command) => command.name() === arg);
    if (next === undefined) continue;
    names.push(next.name());
    current = next;
  }
  return names;
}

/** `brg help profile add` is `brg profile add --help`. An unknown command has no help, and is reported without the option. */
function toHelpOption([first, ...others]: readonly string[], program: Command): readonly string[] {
  if (first !== "help") return first === undefined ? [] : [first, ...others];
  const isKnown = others.length === 0 || program.commands.some((command) => command.name() === others[0]);
  return isKnown ? [...others, "--help"] : others;
}

/** Without this, commander would read the argument after `--json` as its fields. */
function separateJsonFields(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, index) => (arg === "--json" && (end < 0 || index < end) ? "--json=" : arg));
}

async function runVerb(
  verb: VerbEntry,
  args: readonly string[],
  options: object,
  shared: SharedFlags,
  host: Host,
  table: VerbTable,
): Promise<ExitCode | undefined> {
  const output = createOutput(host, shared);
  const [{ run }, { findConnection }, { createConnection }] = await Promise.all([
    verb.load(),
    import("./find-connection.ts"),
    import("./connection.ts"),
  ]);
  let connection: Connection | null = null;
  const connect: Invocation<never>["connect"] = (found) => {
    connection ??= createConnection(found ?? findConnection(shared, host.env), output);
    return connection;
  };
  const interrupts = createInterrupts(host);
  const invocation = { args, options, flags: shared, table, output, env: host.env, stdin: host.stdin, connect, ...interrupts };
  try {
    return await run(invocation as unknown as Invocation<never>);
  } catch (error) {
    if (interrupts.signal.aborted) return exitCodes.interrupted;
    const { reportError } = await import("./report-error.ts");
    return await reportError(error, output, connection);
  } finally {
    finish(output, interrupts);
  }
}

function finish(output: Output, { close }: Pick<ReturnType<typeof createInterrupts>, "close">): void {
  output.status.clear();
  output.screen.close();
  close();
}

/** By default, Ctrl-C aborts the signal; a verb can handle it instead. */
function createInterrupts(host: Host) {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new CommandError("interrupted", "Interrupted."));
  let handle = abort;
  const listener = (): void => handle();
  host.on("SIGINT", listener);
  return {
    signal: controller.signal,
    onInterrupt(next: () => void): () => void {
      handle = next;
      return () => {
        handle = abort;
      };
    },
    close: () => void host.off("SIGINT", listener),
  };
}
