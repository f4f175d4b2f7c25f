import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type RawHeaders, selectForwarded, toPairs } from "./headers.ts";
import type { ProxyRoute } from "./proxy-plan.ts";

/** Headers in which programs send their key. */
const KEY_HEADERS: readonly string[] = ["x-api-key", "api-key", "x-goog-api-key", "authorization"];
const KEY = /^bridge-[\w-]{43}$/;

/** Creates the key of one task for one route. */
export const createLocalKey = (): string => `bridge-${randomBytes(32).toString("base64url")}`;

/** Keys are looked up by their hashes, so that the time of a lookup reveals nothing. */
export const hashKey = (key: string): string => hash("sha256", key, "base64url");

/** Finds the local key of a request: in a header, or in the query. Null if there is none, or several different ones. */
export function findLocalKey({ rawHeaders, url = "" }: Pick<IncomingMessage, "rawHeaders" | "url">): string | null {
  const inHeaders = toPairs(rawHeaders).flatMap(([name, value]) =>
    KEY_HEADERS.includes(name.toLowerCase()) ? [withoutScheme(value)] : [],
  );
  const inQuery = splitQuery(url).parameters.flatMap((parameter) => (isKeyParameter(parameter) ? [decode(parameter.slice(4))] : []));
  const keys = new Set([...inHeaders, ...inQuery].filter((key) => KEY.test(key)));
  const [key = null, ...others] = keys;
  return others.length > 0 ? null : key;
}

/** Returns the headers for the vendor: the local key is replaced by the real one, and the headers of the route are added. */
export function replaceKeyInHeaders(rawHeaders: RawHeaders, key: string, { secret, headers = {} }: ProxyRoute): string[] {
  const added = Object.keys(headers).map((name) => name.toLowerCase());
  const kept = selectForwarded(rawHeaders, ["host", "expect", ...added]);
  const replaced = kept.flatMap(([name, value]) => {
    if (!KEY_HEADERS.includes(name.toLowerCase()) || withoutScheme(value) !== key) return [[name, value]];
    return secret === null ? [] : [[name, value.replace(key, () => secret)]];
  });
  return [...replaced, ...Object.entries(headers)].flat();
}

/** Returns the path with the query for the vendor: the local key is replaced by the real one. */
export function replaceKeyInQuery(url: string, key: string, secret: string | null): string {
  const { path, parameters } = splitQuery(url);
  if (!parameters.some(isKeyParameter)) return url;
  const replaced = parameters.flatMap((parameter) => {
    if (!isKeyParameter(parameter) || decode(parameter.slice(4)) !== key) return [parameter];
    return secret === null ? [] : [`key=${encodeURIComponent(secret)}`];
  });
  return replaced.length === 0 ? path : `${path}?${replaced.join("&")}`;
}

function splitQuery(url: string): { path: string; parameters: string[] } {
  const start = url.indexOf("?");
  return start < 0 ? { path: url, parameters: [] } : { path: url.slice(0, start), parameters: url.slice(start + 1).split("&") };
}

const isKeyParameter = (parameter: string): boolean => parameter.startsWith("key=");

const withoutScheme = (value: string): string => value.replace(/^Bearer\s+/i, "");

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
