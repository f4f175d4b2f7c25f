import { Option } from "commander";
import type { OptionEntry, VerbTable } from "./verb.ts";

/** An option, for completion. */
export interface DescribedOption {
  /** For example `-s` and `--state`. */
  names: string[];
  text: string;
  choices: readonly string[];
  takesValue: boolean;
  /** What `bridge complete` lists for its value; null if nothing. */
  live: LiveKind | null;
}

/** A command, for completion. */
export interface DescribedCommand {
  /** The words after `bridge`. */
  words: string[];
  summary: string;
  options: DescribedOption[];
  /** Fixed values of its first argument. */
  values: readonly string[];
  /** What `bridge complete` lists for its arguments; null if nothing. */
  live: LiveKind | null;
}

/** Values that only Bridge knows. */
type LiveKind = "tasks" | "adapters" | "agents" | "approvals" | "webhooks";

/** Returns all commands and groups with their options, from the table of commands. */
export function describeCommands({ verbs, groups, sharedOptions, local }: VerbTable): DescribedCommand[] {
  const ofGroups = Object.entries({ ...groups, ...local?.groups }).map(([name, summary]) => ({
    words: [name],
    summary,
    options: [],
    values: [],
    live: null,
  }));
  const shown = [...verbs, ...(local?.verbs ?? [])].filter(({ isHidden }) => isHidden !== true);
  const ofVerbs = shown.map(({ name, summary, options = [], arguments: args }) => {
    const own = options.map(describeOption);
    const isOwn = ({ names }: DescribedOption): boolean => own.some((option) => option.names.some((one) => names.includes(one)));
    const shared = sharedOptions.map(describeOption).filter((option) => !isOwn(option));
    return { words: name.split(" "), summary, options: [...own, ...shared], values: valuesOf(name, args), live: liveKindOf(name, args) };
  });
  const help = {
    words: ["help"],
    summary: "Print the help of a command.",
    options: [],
    values: shown.map(({ name }) => name.split(" ")[0] ?? ""),
  };
  return [...ofGroups, ...ofVerbs, { ...help, live: null }];
}

function describeOption({ flags, text, choices = [] }: OptionEntry): DescribedOption {
  const { short, long, required } = new Option(flags);
  const live = liveOptions[long ?? ""] ?? null;
  return { names: [short, long].filter((name) => name !== undefined), text, choices, takesValue: required, live };
}

const liveOptions: Readonly<Record<string, LiveKind>> = { "--agent": "agents", "--provider": "adapters", "--root": "tasks" };

function liveKindOf(name: string, args = ""): LiveKind | null {
  if (name === "approve" || name === "reject") return "approvals";
  if (name === "webhooks" || name === "adapters") return name;
  if (name === "domains") return "agents";
  return /^[<[](id|taskId)\b/.test(args) && name !== "attention" ? "tasks" : null;
}

function valuesOf(name: string, args: string | undefined): readonly string[] {
  if (name === "completion") return ["bash", "zsh", "fish"];
  return args === "[watch]" ? ["watch"] : name === "budgets" ? ["adjust"] : [];
}
