import { hash, timingSafeEqual } from "node:crypto";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { TenantQuota } from "../task.ts";
import { loadOwnToken } from "./own-token.ts";
import { type KnownToken, type Principal, scopes } from "./principal.ts";
import { openTokensFile, type TokensFile } from "./tokens-file.ts";

/** The tokens that open the door. */
export interface Tokens {
  /** Whose token it is; null when it is unknown or has expired. */
  find(token: string): Principal | null;
  /** Tells, while Bridge runs, of each token that is taken back or changed, by the principal that it spoke for. One listener only. */
  onWithdrawn(listener: (principal: Principal) => void): void;
  /** The quota that the tokens file sets for a tenant. The settings apply to missing fields. */
  quotaOf(tenant: string): Partial<TenantQuota>;
  /** Called after each change of a quota. One listener only. */
  onQuotasChanged(listener: () => void): void;
  close(): void;
}

/** What the tokens come from; the rest is for tests. */
export interface TokensOptions {
  config: Pick<Config, "tokenHashes" | "tokensFile" | "dataDir">;
  logger: Logger;
  /** Shows the token that Bridge has made, the only time. */
  announce?: (text: string) => void;
  clock?: () => number;
  pollMs?: number;
}

/** Loads the configured tokens; where none is configured Bridge makes its own. Throws ConfigError. */
export function loadTokens({ config, logger, announce = writeError, clock = Date.now, pollMs = 1000 }: TokensOptions): Tokens {
  const configured = config.tokenHashes.map((hash, index) => toKnownToken(Buffer.from(hash, "hex"), `gateway-token-${index + 1}`));
  let tell: (principal: Principal) => void = () => {};
  const onWithdrawn = (principal: Principal): void => tell(principal);
  let onQuotasChanged: () => void = () => {};
  const changes = { onWithdrawn, onQuotasChanged: () => onQuotasChanged() };
  const file: TokensFile | null =
    config.tokensFile === null ? null : openTokensFile({ file: config.tokensFile, taken: configured, logger, pollMs, ...changes });
  if (configured.length === 0 && file === null)
    configured.push(toKnownToken(digestOf(loadOwnToken(config.dataDir, announce)), "own-token"));

  return {
    find(token) {
      const digest = digestOf(token);
      let found: Principal | null = null;
      // Every candidate is compared, whatever came before: time must not tell which one was nearly right.
      for (const known of [...configured, ...(file?.tokens() ?? [])]) {
        if (timingSafeEqual(known.digest, digest)) found = known.principal;
      }
      return found === null || (found.expiresAt !== null && found.expiresAt <= clock()) ? null : found;
    },
    onWithdrawn(listener) {
      tell = listener;
    },
    quotaOf: (tenant) => file?.quotas().get(tenant) ?? {},
    onQuotasChanged(listener) {
      onQuotasChanged = listener;
    },
    close: () => file?.close(),
  };
}

const digestOf = (token: string): Buffer => hash("sha256", token, "buffer");

function toKnownToken(digest: Buffer, name: string): KnownToken {
  return { digest, principal: { name, tenant: "default", scopes: new Set(scopes), expiresAt: null } };
}

const writeError = (text: string): void => void process.stderr.write(text);
