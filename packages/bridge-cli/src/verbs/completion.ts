import { CommandError } from "../command-error.ts";
import { describeCommands } from "../describe-commands.ts";
import { renderBash, renderFish, renderZsh } from "../render-completion.ts";
import type { Run } from "../verb.ts";

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish };

/** Prints the completion script of a shell. */
export const run: Run<object> = async ({ args: [shell = ""], output, table }) => {
  if (!Object.hasOwn(renderers, shell))
    throw new CommandError("usage", `The shell must be ${Object.keys(renderers).join(", ")}; got "${shell}".`);
  output.print(renderers[shell as keyof typeof renderers](describeCommands(table)).trimEnd());
  return undefined;
};
