import { makeHostileBodies, readBody } from "./hostile-bodies.ts";

/** Processes each hostile body, for `countBlocks`. */
export const workloads: Readonly<Record<string, () => void>> = Object.fromEntries(
  makeHostileBodies().map(({ name, bytes }) => [name, () => void readBody(bytes)]),
);
