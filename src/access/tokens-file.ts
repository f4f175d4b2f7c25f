import { readFileSync, statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { z } from "zod";
import { ConfigError } from "../errors.ts";
import { toFieldErrors } from "../requests/field-errors.ts";
import type { TenantQuota } from "../task.ts";
import { type KnownToken, type Principal, scopes } from "./principal.ts";
import { collectQuotas, quotaFields } from "./quota-fields.ts";

/** The tokens of a file that may be edited while Bridge runs. */
export interface TokensFile {
  /** The last set that was valid. */
  tokens(): readonly KnownToken[];
  /** The quotas of tenants in that set. */
  quotas(): ReadonlyMap<string, Partial<TenantQuota>>;
  close(): void;
}

/** What the file is read with; `taken` are tokens that it must not repeat. */
export interface TokensFileOptions {
  file: string;
  taken: readonly KnownToken[];
  logger: Logger;
  pollMs: number;
  /** Told of each token that is gone from the file, or that is no longer what it was. */
  onWithdrawn(principal: Principal): void;
  /** Called when the quota of a tenant has changed. */
  onQuotasChanged(): void;
}

/** The content of a valid file. */
interface TokensFileContent {
  tokens: readonly KnownToken[];
  quotas: ReadonlyMap<string, Partial<TenantQuota>>;
}

/**
 * Reads the file now, and again whenever it changes. Throws ConfigError when it cannot be used at start; a bad edit later
 * keeps the old set. Watching is a look at the file's state every second: it sees links that are swapped and network disks,
 * which change notices do not.
 */
export function openTokensFile({ file, taken, logger, pollMs, onWithdrawn, onQuotasChanged }: TokensFileOptions): TokensFile {
  // The state is taken first: what is written in between is seen as a change.
  let seen = stateOf(file);
  let { tokens, quotas } = readTokens(file, taken);
  const timer = setInterval(() => {
    const state = stateOf(file);
    if (state === seen) return;
    const [before, quotasBefore] = [tokens, quotas];
    try {
      const content = readTokens(file, taken);
      tokens = keepUnchanged(before, content.tokens);
      quotas = content.quotas;
      seen = state;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      // What could not be read because all file descriptors were in use is read at the next look.
      if (!(error instanceof DescriptorShortage)) seen = state;
      logger.error({ faults: error.faults }, "tokens file not valid: the tokens from before stay in force");
      return;
    }
    logger.info({ tokens: tokens.length }, "tokens file re-read");
    for (const token of before) if (!tokens.includes(token)) onWithdrawn(token.principal);
    if (!isDeepStrictEqual(quotasBefore, quotas)) onQuotasChanged();
  }, pollMs);
  timer.unref();
  return { tokens: () => tokens, quotas: () => quotas, close: () => clearInterval(timer) };
}

/** What is said again as it was stays the same object: by that, who came with a token can be told to be welcome still. */
function keepUnchanged(before: readonly KnownToken[], now: readonly KnownToken[]): KnownToken[] {
  const known = new Map(before.map((token) => [token.digest.toString("hex"), token]));
  return now.map((token) => {
    const same = known.get(token.digest.toString("hex"));
    return same !== undefined && isDeepStrictEqual(same.principal, token.principal) ? same : token;
  });
}

function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

const schema = z.array(
  z.strictObject({
    name: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, "must be 1 to 128 printable ASCII characters without spaces")
      .refine((name) => name !== "bridge", "must be another than bridge: Bridge itself decides approvals under that name"),
    // It becomes the name of a directory.
    tenant: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 _ -"),
    sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, "must be SHA-256 in hex (64 characters)"),
    scopes: z.array(z.enum(scopes)).min(1),
    expiresAt: z.iso.datetime({ offset: true, error: "must be a time such as 2030-01-31T00:00:00Z" }).optional(),
    ...quotaFields,
  }),
);

function readTokens(file: string, taken: readonly KnownToken[]): TokensFileContent {
  const entries = parse(read(file));
  const faults: string[] = [];
  const names = new Set<string>(taken.map((token) => token.principal.name));
  const hashes = new Set<string>(taken.map((token) => token.digest.toString("hex")));
  const tokens = entries.map(({ name, tenant, sha256, scopes: granted, expiresAt }, index): KnownToken => {
    const hash = sha256.toLowerCase();
    if (names.has(name)) faults.push(fault(`${index}.name`, `${name} is the name of another token`));
    if (hashes.has(hash)) faults.push(fault(`${index}.sha256`, "is the hash of another token"));
    names.add(name);
    hashes.add(hash);
    const principal = { name, tenant, scopes: new Set(granted), expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt) };
    return { digest: Buffer.from(hash, "hex"), principal };
  });
  const quotas = collectQuotas(entries, (index, name, message) => void faults.push(fault(`${index}.${name}`, message)));
  if (faults.length > 0) throw new ConfigError(faults);
  return { tokens, quotas };
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const faults = [`BRIDGE_TOKENS_FILE: cannot be read (${code})`];
    throw code === "EMFILE" || code === "ENFILE" ? new DescriptorShortage(faults) : new ConfigError(faults);
  }
}

/** The file could not be read because all file descriptors are in use. */
class DescriptorShortage extends ConfigError {}

function parse(text: string): z.infer<typeof schema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ConfigError([`BRIDGE_TOKENS_FILE: is not JSON (${(error as Error).message})`]);
  }
  if (!Array.isArray(json)) throw new ConfigError([`BRIDGE_TOKENS_FILE: must be an array, for example ${EXAMPLE}`]);
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new ConfigError(toFieldErrors(parsed.error.issues).map(({ path, message }) => fault(path, message)));
  return parsed.data;
}

const EXAMPLE = '[{"name":"ci","tenant":"default","sha256":"<SHA-256 of the token in hex>","scopes":["dispatch","read"]}]';

const fault = (path: string, message: string): string => `BRIDGE_TOKENS_FILE: ${path === "" ? "" : `${path} `}${message}`;
