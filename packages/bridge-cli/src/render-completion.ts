import type { DescribedCommand } from "./describe-commands.ts";

/** Renders the completion script for bash. */
export function renderBash(commands: readonly DescribedCommand[]): string {
  const cases = commands
    .filter(({ options, values }) => options.length > 0 || values.length > 0)
    .map(({ words, options, values, live }) => {
      const names = [...options.flatMap(({ names: all }) => all), ...values];
      return `    "${words.join(" ")}") words="${names.join(" ")}"${live === null ? "" : ` live=${live}`} ;;`;
    });
  const choices = commands.flatMap(({ words, options }) =>
    options
      .filter((option) => option.choices.length > 0 || option.live !== null)
      .flatMap((option) =>
        option.names.map((name) => `    "${words.join(" ")} ${name}") words="${option.choices.join(" ")}" live=${option.live ?? ""} ;;`),
      ),
  );
  return `# bash completion of bridge. Load it with: source <(brg completion bash)
_bridge() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" command="" words="" live="" word
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
  # Only Bridge knows ids and names. Without an answer, there are none.
  if [[ -n $live && $current != -* ]]; then words+=" $("\${COMP_WORDS[0]}" complete "$live" "$current" 2>/dev/null)"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _bridge bridge brg
`;
}

/** Renders the completion script for zsh, which can use that of bash. */
export function renderZsh(commands: readonly DescribedCommand[]): string {
  return `#compdef bridge brg
# zsh completion of bridge. Load it with: source <(brg completion zsh)
autoload -Uz bashcompinit && bashcompinit
${renderBash(commands)}`;
}

/** Renders the completion script for fish. */
export function renderFish(commands: readonly DescribedCommand[]): string {
  const linesFor = (program: string) =>
    commands.flatMap(({ words, summary, options, values, live }) => {
      const [name = "", ...more] = words.toReversed();
      const before =
        more.length === 0 ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${more[0]}; and not __fish_seen_subcommand_from ${name}`;
      const inside = words.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
      return [
        `complete -c ${program} -f -n '${before}' -a ${name} -d ${quote(summary)}`,
        ...values.map((value) => `complete -c ${program} -n '${inside}' -a ${value}`),
        ...(live === null ? [] : [`complete -c ${program} -f -n '${inside}' -a '${listLive(program, live)}'`]),
        ...options.map(({ names, text, choices, takesValue, live: liveValue }) => {
          const flags = names.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(" ");
          const value =
            choices.length > 0
              ? ` -x -a '${choices.join(" ")}'`
              : liveValue !== null
                ? ` -x -a '${listLive(program, liveValue)}'`
                : takesValue
                  ? " -r"
                  : "";
          return `complete -c ${program} -n '${inside}' ${flags}${value} -d ${quote(text)}`;
        }),
      ];
    });
  const lines = ["bridge", "brg"].flatMap(linesFor);
  return `# fish completion of bridge. Load it with: brg completion fish | source\n${lines.join("\n")}\n`;
}

/** The command of fish that lists values which only Bridge knows. */
const listLive = (program: string, live: string): string => `(${program} complete ${live} (commandline -ct) 2>/dev/null)`;

/** Returns the words that can follow these words. */
function nextWords(commands: readonly DescribedCommand[], start: readonly string[]): string {
  const next = commands.filter(({ words }) => words.length === start.length + 1 && start.every((word, index) => words[index] === word));
  return next.map(({ words }) => words.at(-1)).join(" ");
}

const groupsOf = (commands: readonly DescribedCommand[]): string[] =>
  commands.filter(({ options, values }) => options.length === 0 && values.length === 0).map(({ words }) => words.join(" "));

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
