import { createHash } from "node:crypto";
import type { Statement } from "./connection.ts";

/** Names a statement after its text. */
export const toStatement = (text: string): Statement => ({ name: createHash("sha1").update(text).digest("hex"), text });
