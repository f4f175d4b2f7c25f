import { hash, timingSafeEqual } from "node:crypto";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { TenantQuota } from "../task.ts";
import { loadGeneratedToken } from "./generated-token.ts";
import { type KnownToken, type Principal, scopes } from "./principal.ts";
import { openTokensFile, type TokensFile } from "./tokens-file.ts";

export type Tokens = ReturnType<typeof loadTokens>;

/** Options of `loadTokens`; `clock` and `pollMs` are for tests. */
export interface TokensOptions {
  config: Pick<Config, "tokenHashes" | "tokensFile" | "dataDir">;
  logger: Logger;
  /** Shows a newly generated token to the operator. Default: writes to standard error. */
  announce?: (text: string) => void;
  clock?: () => number;
  pollMs?: number;
}

/** Loads the configured tokens. If none are configured, Bridge uses a generated token. Throws ConfigError. */
export function loadTokens({ config, logger, announce = writeError, clock = Date.now, pollMs = 500 }: TokensOptions) {
  const configured = config.tokenHashes.map((hash, index) => toKnownToken(Buffer.from(hash, "hex"), `gateway-token-${index + 1}`));
  let revokedListener: (principal: Principal) => void = () => {};
  let quotasListener: () => void = () => {};
  const file: TokensFile | null =
    config.tokensFile === null
      ? null
      : openTokensFile({
          file: config.tokensFile,
          configured,
          logger,
          pollMs,
          onRevoked: (principal) => revokedListener(principal),
          onQuotasChanged: () => quotasListener(),
        });
  if (configured.length === 0 && file === null)
    configured.push(toKnownToken(hashToken(loadGeneratedToken(config.dataDir, announce)), "own-token"));

  const knownTokens = (): KnownToken[] => [...configured, ...(file?.tokens() ?? [])];
  const isValid = ({ principal: { expiresAt } }: KnownToken): boolean => expiresAt === null || expiresAt > clock();

  return {
    /** Returns the principal of a token; null if the token is unknown or has expired. */
    find(token: string): Principal | null {
      const digest = hashToken(token);
      let found: KnownToken | null = null;
      // Every known token is compared, also after a match, so that the response time does not reveal which one matched.
      for (const known of knownTokens()) {
        if (timingSafeEqual(known.digest, digest)) found = known;
      }
      return found !== null && isValid(found) ? found.principal : null;
    },
    /** Returns the token whose principal has this name; null if there is none or it has expired. */
    findByName(name: string): KnownToken | null {
      return knownTokens().find((known) => known.principal.name === name && isValid(known)) ?? null;
    },
    /** The principal of the first token of the settings, or of the generated token. Null if the tokens file has all tokens. */
    findOwn: (): Principal | null => configured[0]?.principal ?? null,
    /** Calls the listener, with the former principal, for each token that is removed or changed while Bridge runs. One listener only. */
    onRevoked(listener: (principal: Principal) => void): void {
      revokedListener = listener;
    },
    /** Returns the quota that the tokens file sets for a tenant. The settings apply to missing fields. */
    quotaOf: (tenant: string): Partial<TenantQuota> => file?.quotas().get(tenant) ?? {},
    /** Calls the listener after each change of a quota. One listener only. */
    onQuotasChanged(listener: () => void): void {
      quotasListener = listener;
    },
    /** Describes all tokens by their hashes, and the quotas of the file, for a comparison. The order in the settings does not matter. */
    describe: () => [
      knownTokens().map(describeToken).toSorted(),
      [...(file?.quotas() ?? [])].map((quota) => JSON.stringify(quota)).toSorted(),
    ],
    close: () => file?.close(),
  };
}

/** Hashes a token. Converts the hash from hex, because Node returns a string in a third of the time that it takes to return a buffer. */
const hashToken = (token: string): Buffer => Buffer.from(hash("sha256", token), "hex");

function toKnownToken(digest: Buffer, name: string): KnownToken {
  return { digest, principal: { name, tenant: "default", scopes: new Set(scopes), expiresAt: null } };
}

const describeToken = ({ digest, principal: { name, tenant, scopes, expiresAt } }: KnownToken): string =>
  JSON.stringify([digest.toString("hex"), name, tenant, [...scopes].toSorted(), expiresAt]);

const writeError = (text: string): void => void process.stderr.write(text);
