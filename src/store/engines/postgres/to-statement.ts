import { createHash } from "node:crypto";
import type { Statement } from "./connection.ts";

/** Names a statement after its text. */
export const toStatement = (text: string): Statement => ({ name: createHash("sha1").update(text).digest("hex"), text });

/** Numbers the parameters of a text in which each is a `?`. */
export const numberParameters = (sql: string): string => sql.split("?").reduce((before, after, index) => `${before}$${index}${after}`);
