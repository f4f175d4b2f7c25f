import { type Argument, Command, Option } from "commander";
import { exitCodeMeanings, exitCodes } from "./exit-codes.ts";
import type { ConnectionFlags } from "./find-connection.ts";
import type { OutputFlags } from "./output.ts";
import { readVersion } from "./read-version.ts";
import type { OptionEntry, VerbEntry, VerbTable } from "./verb.ts";
import * as ownTable from "./verb-table.ts";

/** The values of the options that every command has. */
export type SharedFlags = ConnectionFlags & OutputFlags;

/** Runs a verb with its parsed arguments. */
export type RunVerb = (verb: VerbEntry, args: readonly string[], options: object, shared: SharedFlags) => Promise<void>;

/** Creates the parser of the command line. Shared options can be before or after the verb; the later one takes precedence. */
export function createProgram(runVerb: RunVerb, table: VerbTable = { ...ownTable, local: null }): Command {
  const program = new Command("brg")
    .description("Dispatch, follow and manage the tasks of a running Bridge.")
    .usage("[options] <command>")
    .enablePositionalOptions()
    .exitOverride()
    // `runCli` prints errors, with --json as a problem document.
    .configureOutput({ outputError: () => {} })
    .configureHelp({
      optionTerm: ({ flags }) => flags.replace("--json [fields]", "--json[=fields]"),
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(describeArgument)].join(" "),
    })
    .version(readVersion(), "-V, --version", "print the version of this program")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "Print the help of a command.")
    .addHelpText("after", `\n${renderExitCodes()}\n\nbrg <command> --help explains a command.`);
  for (const entry of table.sharedOptions) program.addOption(createOption(entry));
  for (const verb of table.verbs) addVerb(program, verb, table, runVerb);
  if (table.local === null) return program;
  program.commandsGroup("Commands for the server in this directory:");
  for (const verb of table.local.verbs) addVerb(program, verb, { ...table, ...table.local }, runVerb);
  return program;
}

function addVerb(program: Command, verb: VerbEntry, { groups, sharedOptions }: VerbTable, runVerb: RunVerb): void {
  const [first = "", second] = verb.name.split(" ");
  const parent = second === undefined ? program : findGroup(program, first, groups);
  const command = parent
    .command(`${second ?? first}${verb.arguments === undefined ? "" : ` ${verb.arguments}`}`, { hidden: verb.isHidden === true })
    .summary(verb.summary);
  command.description(verb.summary).allowExcessArguments(false);
  for (const entry of verb.options ?? []) command.addOption(createOption(entry));
  const own = new Set(command.options.map((option) => option.attributeName()));
  command.optionsGroup("Options of all commands:");
  for (const entry of sharedOptions) {
    const option = createOption(entry);
    // `dispatch --profile` is the permission of the task.
    if (!own.has(option.attributeName())) command.addOption(option);
  }
  if (verb.help !== undefined) command.addHelpText("after", `\n${verb.help}`);
  command.action(async () => {
    const shared: Record<string, unknown> = { ...program.opts() };
    const options: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(command.opts())) {
      if (own.has(name)) options[name] = value;
      // The default of `--no-color` is true, and must not hide the option before the verb.
      else if (command.getOptionValueSource(name) !== "default") shared[name] = value;
    }
    await runVerb(verb, command.args, options, shared);
  });
}

function findGroup(program: Command, name: string, groups: VerbTable["groups"]): Command {
  const existing = program.commands.find((command) => command.name() === name);
  return (
    existing ??
    program
      .command(name)
      .description(groups[name] ?? "")
      .helpCommand(false)
  );
}

function createOption({ flags, text, choices, parse, conflicts }: OptionEntry): Option {
  const option = new Option(flags, text);
  if (choices !== undefined) option.choices([...choices]);
  if (parse !== undefined) option.argParser(parse);
  if (conflicts !== undefined) option.conflicts([...conflicts]);
  return option;
}

function describeArgument(argument: Argument): string {
  const text = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${text}>` : `[${text}]`;
}

function renderExitCodes(): string {
  const lines = Object.entries(exitCodes).map(
    ([kind, code]) => `  ${String(code).padEnd(3)}  ${exitCodeMeanings[kind as keyof typeof exitCodes]}`,
  );
  return `Exit codes:\n${lines.join("\n")}`;
}
