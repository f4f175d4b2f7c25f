import { readFileSync } from "node:fs";
import path from "node:path";
import { CommandError } from "../command-error.ts";
import { checkUrl, runTokenCommand } from "../find-connection.ts";
import { type Profile, readProfiles, writeProfiles, writeTokenFile } from "../profiles.ts";
import { readSecret } from "../read-secret.ts";
import { readAll } from "../read-text.ts";
import type { Invocation, Run } from "../verb.ts";

interface Options {
  tokenFile?: string;
  tokenCommand?: string;
  check: boolean;
}

/** Names of profiles are also names of files. */
const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;

/** Saves an address and where its token is. Before that, it checks both. The first profile becomes the current one. */
export const run: Run<Options> = async (invocation) => {
  const { args, options, flags, output, env, signal, connect } = invocation;
  const [name = ""] = args;
  if (!NAME.test(name))
    throw new CommandError("usage", `The name of a profile has 1 to 63 letters, digits or the characters . _ -; got "${name}".`);
  if (flags.url === undefined) throw new CommandError("usage", "--url is missing.", { hint: `brg profile add ${name} --url <url>` });
  const url = checkUrl(flags.url, "--url");
  const all = readProfiles(env);
  const { token, source } = await readToken(invocation, url);
  if (options.check) {
    const identity = await connect({ url, urlSource: "--url", token, tokenSource: source }).client.getIdentity({ signal });
    output.note(`The token "${identity.name}" of the tenant "${identity.tenant}" has the scopes: ${identity.scopes.join(", ")}.`);
  }
  const profile: Profile = { url, ...toStored(options, name, token, env) };
  writeProfiles(env, { current: all.current ?? name, profiles: { ...all.profiles, [name]: profile } });
  output.note(all.current === null || all.current === name ? `Commands now use ${url}.` : `To use it, run: brg profile use ${name}`);
  return undefined;
};

async function readToken({ options, env, stdin, output }: Invocation<Options>, url: string): Promise<{ token: string; source: string }> {
  const { tokenFile, tokenCommand } = options;
  if (tokenCommand !== undefined) return { token: runTokenCommand(tokenCommand, env), source: "--token-command" };
  if (tokenFile !== undefined) return { token: readTokenFile(tokenFile), source: "--token-file" };
  const token = stdin.isTTY ? await readSecret(`Token for ${url}: `, stdin, output) : await readAll(stdin);
  if (token.trim() === "") throw new CommandError("usage", "The token is empty.", { hint: "Enter it, or pass it on stdin." });
  return { token: token.trim(), source: "stdin" };
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CommandError("usage", `--token-file cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function toStored(options: Options, name: string, token: string, env: NodeJS.ProcessEnv): Omit<Profile, "url"> {
  if (options.tokenCommand !== undefined) return { tokenCommand: options.tokenCommand };
  return { tokenFile: options.tokenFile === undefined ? writeTokenFile(env, name, token) : path.resolve(options.tokenFile) };
}
