import { isIP } from "node:net";
import { z } from "zod";
import { expected, integer, readFlag, readInteger, readJson, readList } from "#contract";
import { type ModelPrices, modelPricesSchema } from "../pricing/model-prices.ts";

/** Returns a preprocessor that applies `read` to a text. A variable that is not set stays undefined. */
export function createTextReader(read: (text: string) => unknown) {
  return (text: unknown): unknown => (typeof text === "string" ? read(text) : text);
}

/** Returns the schema of a whole number in a range. */
export const wholeNumber = (min: number, max: number) => z.preprocess(createTextReader(readInteger), integer(min, max));

/** The schema of true or false. */
export const flag = z.preprocess(createTextReader(readFlag), z.boolean(expected("true or false")));

/** The schema of a number, which need not be whole. */
export const amount = (min: number, max: number) => {
  const fault = expected(`a number from ${min} to ${max}`);
  return z.preprocess(createTextReader(Number), z.number(fault).min(min, fault).max(max, fault));
};

/** The schema of a comma-separated list. */
export const list = z.string().transform(readList);

/** The schema of a file or directory that may be absent. */
export const path = z.string().min(1).nullable().default(null);

/** Returns the schema of a limit that can be turned off; null means no limit. */
export const limit = (max: number) =>
  z.union([z.literal("off").transform(() => null), wholeNumber(1, max)], expected(`off or a whole number from 1 to ${max}`)).default(null);

/** Returns the schema of an http or https URL that may be absent. */
export const httpUrl = (example: string) =>
  z
    .url({ protocol: /^https?$/, error: `must be an http or https URL, for example ${example}` })
    .nullable()
    .default(null);

/** `m`, `MB` and `MiB` are the same size, as in other servers. */
const units = { "": 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 } as const;

/** The schema of a size from 1 KiB to 1 GiB; its value is in bytes. */
export const bytes = z
  .string()
  .trim()
  .regex(/^\d+ *(b|[kmg](i?b)?)?$/i, expected("a size such as 8 MiB, 8m or 8388608"))
  .transform((text) => {
    const [, count, unit = ""] = /^(\d+) *(\w?)/.exec(text.toLowerCase()) ?? [];
    return Number(count) * units[unit as keyof typeof units];
  })
  .refine((size) => size >= 1024 && size <= 1024 ** 3, "must be from 1 KiB to 1 GiB");

/** The schema of prices of models, as JSON; null for none. */
export const modelPrices = z
  .preprocess(
    createTextReader(readJson),
    z.custom<ModelPrices>(
      (prices) => modelPricesSchema.safeParse(prices).success,
      'must be a JSON object of prices in US dollars per million tokens, for example {"my-model":{"input":3,"output":15,"cacheRead":0.3}}',
    ),
  )
  .nullable()
  .default(null);

/** Running tasks per adapter. */
const DEFAULT_CONCURRENCY = 4;

/** The schema of a limit for each adapter, such as `4` or `2,claude=8`. */
export const limitPerAdapter = z
  .string()
  .transform((text, context) => {
    const limits = new Map<string, number>();
    let fallback: number | undefined;
    for (const part of text.split(",").map((item) => item.trim())) {
      const [, name, count] = /^(?:(.+)=)?(\d+)$/.exec(part) ?? [];
      const limit = Number(count);
      const isRepeated = name === undefined ? fallback !== undefined : limits.has(name);
      if (!(limit >= 0 && limit <= 10_000) || isRepeated) {
        context.addIssue(
          "must be numbers from 0 to 10000, separated by commas: one default, name=number for each adapter, or both, such as 4,claude=2",
        );
        return z.NEVER;
      }
      if (name === undefined) fallback = limit;
      else limits.set(name.trim(), limit);
    }
    return { fallback: fallback ?? DEFAULT_CONCURRENCY, limits };
  })
  .default({ fallback: DEFAULT_CONCURRENCY, limits: new Map() });

/** The schema of a secret that signs callbacks or webhooks. */
export const callbackSecret: z.ZodType<string, string> = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, { error: "must be whsec_ followed by base64", abort: true })
  .refine((text) => {
    const size = Buffer.from(text.slice("whsec_".length), "base64").length;
    return size >= 24 && size <= 64;
  }, "must encode 24 to 64 bytes; generate one with: echo whsec_$(openssl rand -base64 32)");

/** The schema of the SHA-256 of tokens, in hex. */
export const tokenHashes = list
  .pipe(
    z.array(
      z
        .string()
        .regex(/^[0-9a-fA-F]{64}$/, "must be SHA-256 in hex (64 characters)")
        .transform((hash) => hash.toLowerCase()),
    ),
  )
  .default([]);

/** The schema of the database: a SQLite file or a PostgreSQL database. */
export const databaseUrl = z
  .string()
  .refine(
    (url) => /^sqlite:.+/.test(url) || isPostgresUrl(url),
    "must begin with sqlite: followed by a file name, or have the form postgres://user:password@host:port/database",
  )
  .nullable()
  .default(null);

/** The schema of the URL of a PostgreSQL database. */
export const postgresUrl = z
  .string()
  .refine(isPostgresUrl, "must have the form postgres://user:password@host:port/database")
  .nullable()
  .default(null);

/** Checks for a PostgreSQL server and the name of one of its databases. */
function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== "" && /^\/[^/]+$/.test(url.pathname);
}

/** The schema of the name of a node. */
export const nodeName = z
  .string()
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/,
    "must be 1 to 64 letters, digits, dots, hyphens or underscores, and begin and end with a letter or digit",
  );

const tag = z
  .string()
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._:-]{0,62}[A-Za-z0-9])?$/,
    "must be 1 to 64 letters, digits, dots, colons, hyphens or underscores, and begin and end with a letter or digit",
  )
  .refine((text) => !text.startsWith("node:"), "must not begin with node:, which precedes the name of a node");

/** The schema of the tags of a node. */
export const nodeTags = list.pipe(z.array(tag).max(64, "must be at most 64 tags")).default([]);

/** The schema of an address to listen on. Checks the form only; the name may not resolve. */
export const host = z
  .string()
  .refine(
    (text) => isIP(text.replace(/^\[(.*)\]$/, "$1")) !== 0 || /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/.test(text),
    expected("an IP address or a host name, without a scheme, port or path"),
  );

/** The schema of hosts, suffixes of hosts and ranges of addresses. */
export const allowedHosts = list.pipe(z.array(z.string().refine(isAllowEntry, "must be a host, *.suffix or CIDR"))).default([]);

function isAllowEntry(entry: string): boolean {
  const [address, bits, ...rest] = entry.split("/");
  const family = isIP(address ?? "");
  if (bits !== undefined) return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  return family !== 0 || /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(entry);
}

/** The schema of the origins of pages. */
export const origins = list
  .pipe(z.array(z.string().refine(isOrigin, "must be an origin such as https://app.example, without a path, or *")))
  .default([]);

/** Checks for a scheme, a host and, unless it is the default, a port, in the form that browsers send. */
function isOrigin(text: string): boolean {
  if (text === "*") return true;
  if (/^https?:/.test(text)) return !text.includes("*") && URL.canParse(text) && new URL(text).origin === text;
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(text);
}
