import type { BigIntStats } from "node:fs";

/** Returns the ETag of a file, without quotes. It changes with every change of the file. */
export const fileTag = ({ ino, size, ctimeNs }: Pick<BigIntStats, "ino" | "size" | "ctimeNs">): string =>
  [ino, size, ctimeNs].map((number) => number.toString(36)).join("-");
