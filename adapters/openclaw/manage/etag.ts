import { hash } from "node:crypto";
import { isJsonObject } from "#contract";

/** Returns the etag of a text, equal to the gateway's hash of a file with this content. */
export const createTextEtag = (text: string | Uint8Array): string => hash("sha256", text);

/** Returns the etag of a record. The order of its fields has no effect. */
export const createRecordEtag = (record: unknown): string => createTextEtag(JSON.stringify(record, sortFields));

const sortFields = (_: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;
