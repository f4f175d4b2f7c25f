import { hash, randomBytes } from "node:crypto";
import path from "node:path";
import { CommandError, parseIsoTime, printRecord } from "bridge-cli";
import { addToken, findTokenFaults } from "../../access/add-token.ts";
import type { TokenEntry } from "../../access/tokens-file.ts";
import { createLocalVerb } from "../run-local.ts";

interface Options {
  tenant?: string;
  scopes?: string;
  expires?: string;
  add?: boolean;
}

const DAY_MS = 24 * 3600 * 1000;
const SETTING = "BRIDGE_TOKENS_FILE";

/** Creates a token, and prints it with its entry for the tokens file, or adds the entry to the file. */
export const run = createLocalVerb<Options>(async ({ args: [name = ""], options, output, environment: { variables } }) => {
  const token = `bridge_${randomBytes(32).toString("base64url")}`;
  const entry: TokenEntry = {
    name,
    tenant: options.tenant ?? "default",
    sha256: hash("sha256", token),
    scopes: (options.scopes ?? "dispatch,read").split(",").map((scope) => scope.trim()) as TokenEntry["scopes"],
    ...(options.expires !== undefined && { expiresAt: parseExpiry(options.expires) }),
  };
  const setting = variables[SETTING] || null;
  if (options.add === true && setting === null)
    throw new CommandError("usage", `${SETTING} is not set, so there is no file to add the token to.`, {
      hint: `Set it, for example in .env: ${SETTING}=./tokens.json. Bridge then accepts only the tokens of this file, and data/token only if its hash is in BRIDGE_GATEWAY_TOKEN_HASH.`,
    });
  const file = setting === null || options.add !== true ? null : path.resolve(setting);
  const faults = findTokenFaults(entry);
  if (faults.length > 0) throw new CommandError("usage", ["The token is not valid:", ...faults.map((fault) => `  ${fault}`)].join("\n"));
  if (file !== null) await addToken(entry, file);
  printRecord(output, { token, entry, file }, [
    { name: "token", value: token },
    { name: "entry", value: JSON.stringify(entry) },
    { name: "file", value: file },
  ]);
  output.note(
    file === null
      ? `The token is printed only once. Add the entry to the JSON array in ${SETTING}, or run this command with --add.`
      : "The token is printed only once. A Bridge that uses this file reads it again within a second. Restart one that was started without it.",
  );
  return undefined;
});

function parseExpiry(text: string): string {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  const time = days === undefined ? parseIsoTime(text) : Date.now() + Number(days) * DAY_MS;
  if (time !== null && time > Date.now()) return new Date(time).toISOString();
  throw new CommandError(
    "usage",
    `--expires must be a number of days or a time in the future, for example 90d or 2030-01-31T00:00:00Z; got "${text}".`,
  );
}
