import { Option } from "commander";
import type { OptionEntry, VerbTable } from "./verb.ts";

/** An option, for completion. */
export interface DescribedOption {
  /** For example `-s` and `--state`. */
  names: string[];
  text: string;
  choices: readonly string[];
  takesValue: boolean;
}

/** A command, for completion. */
export interface DescribedCommand {
  /** The words after `bridge`. */
  words: string[];
  summary: string;
  options: DescribedOption[];
  /** Fixed values of its first argument. */
  values: readonly string[];
}

/** Returns all commands and groups with their options, from the table of commands. */
export function describeCommands({ verbs, groups, sharedOptions, local }: VerbTable): DescribedCommand[] {
  const ofGroups = Object.entries({ ...groups, ...local?.groups }).map(([name, summary]) => ({
    words: [name],
    summary,
    options: [],
    values: [],
  }));
  const ofVerbs = [...verbs, ...(local?.verbs ?? [])].map(({ name, summary, options = [], arguments: args }) => {
    const own = options.map(describeOption);
    const isOwn = ({ names }: DescribedOption): boolean => own.some((option) => option.names.some((one) => names.includes(one)));
    const shared = sharedOptions.map(describeOption).filter((option) => !isOwn(option));
    return { words: name.split(" "), summary, options: [...own, ...shared], values: valuesOf(name, args) };
  });
  return [...ofGroups, ...ofVerbs];
}

function describeOption({ flags, text, choices = [] }: OptionEntry): DescribedOption {
  const { short, long, required } = new Option(flags);
  return { names: [short, long].filter((name) => name !== undefined), text, choices, takesValue: required };
}

function valuesOf(name: string, args: string | undefined): readonly string[] {
  if (name === "completion") return ["bash", "zsh", "fish"];
  return args === "[watch]" ? ["watch"] : [];
}
