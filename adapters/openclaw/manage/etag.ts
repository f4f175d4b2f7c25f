import { hash } from "node:crypto";

/** The etag of a text: the same as the gateway's own hash of a file. */
export const textEtag = (text: string | Uint8Array): string => hash("sha256", text);

/** The etag of a record; in which order its fields came does not count. */
export const recordEtag = (record: unknown): string => textEtag(JSON.stringify(record, sorted));

const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
