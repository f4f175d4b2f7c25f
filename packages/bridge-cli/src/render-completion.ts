import type { DescribedCommand } from "./describe-commands.ts";

/** Renders the completion script for bash. */
export function renderBash(commands: readonly DescribedCommand[]): string {
  const cases = commands
    .filter(({ options }) => options.length > 0)
    .map(({ words, options, values }) => {
      const names = [...options.flatMap(({ names: all }) => all), ...values];
      return `    "${words.join(" ")}") words="${names.join(" ")}" ;;`;
    });
  const choices = commands.flatMap(({ words, options }) =>
    options
      .filter((option) => option.choices.length > 0)
      .flatMap((option) => option.names.map((name) => `    "${words.join(" ")} ${name}") words="${option.choices.join(" ")}" ;;`)),
  );
  return `# bash completion of bridge. Load it with: source <(bridge completion bash)
_bridge() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" command="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
${commands.map(({ words }) => `      "${words.slice(0, -1).join(" ")} ${words.at(-1)}") command="${words.join(" ")}" ;;`).join("\n")}
    esac
  done
  case "$command" in
    "") words="${nextWords(commands, [])}" ;;
${groupsOf(commands)
  .map((group) => `    "${group}") words="${nextWords(commands, [group])}" ;;`)
  .join("\n")}
${cases.join("\n")}
  esac
  case "$command $previous" in
${choices.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _bridge bridge
`;
}

/** Renders the completion script for zsh, which can use that of bash. */
export function renderZsh(commands: readonly DescribedCommand[]): string {
  return `#compdef bridge
# zsh completion of bridge. Load it with: source <(bridge completion zsh)
autoload -Uz bashcompinit && bashcompinit
${renderBash(commands)}`;
}

/** Renders the completion script for fish. */
export function renderFish(commands: readonly DescribedCommand[]): string {
  const lines = commands.flatMap(({ words, summary, options, values }) => {
    const [name = "", ...more] = words.toReversed();
    const before =
      more.length === 0 ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${more[0]}; and not __fish_seen_subcommand_from ${name}`;
    const inside = words.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    return [
      `complete -c bridge -f -n '${before}' -a ${name} -d ${quote(summary)}`,
      ...values.map((value) => `complete -c bridge -n '${inside}' -a ${value}`),
      ...options.map(({ names, text, choices, takesValue }) => {
        const flags = names.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(" ");
        const value = choices.length > 0 ? ` -x -a '${choices.join(" ")}'` : takesValue ? " -r" : "";
        return `complete -c bridge -n '${inside}' ${flags}${value} -d ${quote(text)}`;
      }),
    ];
  });
  return `# fish completion of bridge. Load it with: bridge completion fish | source\n${lines.join("\n")}\n`;
}

/** Returns the words that can follow these words. */
function nextWords(commands: readonly DescribedCommand[], start: readonly string[]): string {
  const next = commands.filter(({ words }) => words.length === start.length + 1 && start.every((word, index) => words[index] === word));
  return next.map(({ words }) => words.at(-1)).join(" ");
}

const groupsOf = (commands: readonly DescribedCommand[]): string[] =>
  commands.filter(({ options }) => options.length === 0).map(({ words }) => words.join(" "));

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
