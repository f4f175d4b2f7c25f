import { readFileSync } from "node:fs";

/** The version of this Bridge, as package.json tells it. */
export const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
