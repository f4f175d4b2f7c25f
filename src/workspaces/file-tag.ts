import type { BigIntStats } from "node:fs";

/** Tag of a file's content, as `ETag` carries it in quotes: changes with every change of the file. */
export const fileTag = ({ ino, size, ctimeNs }: Pick<BigIntStats, "ino" | "size" | "ctimeNs">): string =>
  [ino, size, ctimeNs].map((number) => number.toString(36)).join("-");
