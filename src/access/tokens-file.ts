import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { z } from "zod";
import { ConfigError } from "../errors.ts";
import { formatFault, openReloadedFile } from "../reloaded-file.ts";
import type { TenantQuota } from "../task.ts";
import { type KnownToken, type Principal, scopes } from "./principal.ts";
import { collectQuotas, quotaFields } from "./quota-fields.ts";

export type TokensFile = ReturnType<typeof openTokensFile>;

/** Options of `openTokensFile`. */
export interface TokensFileOptions {
  file: string;
  /** Tokens from the settings; the file must not repeat their names and hashes. */
  configured: readonly KnownToken[];
  logger: Logger;
  pollMs: number;
  /** Called with the former principal of each token that was removed or changed. */
  onRevoked(principal: Principal): void;
  /** Called when the quota of a tenant has changed. */
  onQuotasChanged(): void;
}

/** The content of a valid file. */
interface TokensFileContent {
  tokens: readonly KnownToken[];
  quotas: ReadonlyMap<string, Partial<TenantQuota>>;
}

/**
 * Reads the tokens file now and again after each change. Throws ConfigError if the file is not valid now; if it is not
 * valid later, the tokens of the last valid version stay in force.
 */
export function openTokensFile({ file, configured, logger, pollMs, onRevoked, onQuotasChanged }: TokensFileOptions) {
  const reloaded = openReloadedFile<TokenEntry, TokensFileContent>({
    ...{ file, schema: tokensSchema, pollMs, setting: SETTING, example: EXAMPLE },
    toContent(entries, before) {
      const { tokens, quotas } = toContent(entries, configured);
      return { tokens: reuseUnchanged(before?.tokens ?? [], tokens), quotas };
    },
    onInvalid: (faults) => logger.error({ faults }, "tokens file is not valid, previous tokens stay in force"),
    onReloaded({ tokens, quotas }, before) {
      logger.info({ tokens: tokens.length }, "tokens file reloaded");
      for (const token of before.tokens) if (!tokens.includes(token)) onRevoked(token.principal);
      if (!isDeepStrictEqual(before.quotas, quotas)) onQuotasChanged();
    },
  });
  return {
    /** The tokens of the last valid version. */
    tokens: () => reloaded.content().tokens,
    /** The tenants' quotas of the last valid version. */
    quotas: () => reloaded.content().quotas,
    close: reloaded.close,
  };
}

/** Unchanged tokens keep their object identity, so that open connections can be matched with `===` to tokens that are still valid. */
function reuseUnchanged(before: readonly KnownToken[], now: readonly KnownToken[]): KnownToken[] {
  const known = new Map(before.map((token) => [token.digest.toString("hex"), token]));
  return now.map((token) => {
    const same = known.get(token.digest.toString("hex"));
    return same !== undefined && isDeepStrictEqual(same.principal, token.principal) ? same : token;
  });
}

/** The schema of the tokens file. */
export const tokensSchema = z.array(
  z.strictObject({
    name: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, "must be 1 to 128 printable ASCII characters without spaces")
      .refine((name) => name !== "bridge", "must not be bridge, which Bridge itself uses when it decides approvals"),
    // Used as the name of a directory.
    tenant: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 _ -"),
    sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, "must be a SHA-256 hash in hex (64 characters)"),
    scopes: z.array(z.enum(scopes)).min(1),
    expiresAt: z.iso.datetime({ offset: true, error: "must be a time, for example 2030-01-31T00:00:00Z" }).optional(),
    ...quotaFields,
  }),
);

/** One token in the file. */
export type TokenEntry = z.infer<typeof tokensSchema>[number];

function toContent(entries: readonly TokenEntry[], configured: readonly KnownToken[]): TokensFileContent {
  const faults: string[] = [];
  const addFault = (path: string, message: string): void => void faults.push(formatFault({ setting: SETTING, entries }, path, message));
  const names = new Set<string>(configured.map((token) => token.principal.name));
  /** The name of the token with each hash. */
  const hashes = new Map(configured.map((token) => [token.digest.toString("hex"), token.principal.name]));
  const tokens = entries.map(({ name, tenant, sha256, scopes: granted, expiresAt }, index): KnownToken => {
    const hash = sha256.toLowerCase();
    if (names.has(name)) addFault(`${index}.name`, `${name} is the name of another token; choose a unique name`);
    const other = hashes.get(hash);
    if (other !== undefined) addFault(`${index}.sha256`, `is also the hash of the token ${other}; create another token for one of them`);
    names.add(name);
    hashes.set(hash, name);
    const principal = { name, tenant, scopes: new Set(granted), expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt) };
    return { digest: Buffer.from(hash, "hex"), principal };
  });
  const quotas = collectQuotas(entries, (index, name, message) => addFault(`${index}.${name}`, message));
  if (faults.length > 0) throw new ConfigError(faults);
  return { tokens, quotas };
}

const SETTING = "BRIDGE_TOKENS_FILE";
const EXAMPLE = '[{"name":"ci","tenant":"default","sha256":"<SHA-256 of the token in hex>","scopes":["dispatch","read"]}]';
