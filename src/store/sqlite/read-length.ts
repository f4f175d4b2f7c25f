import type { Row } from "./sqlite-driver.ts";

/** How much text one read brings, give or take one row: many readers may hold a page each. */
const READ_LENGTH = 1024 * 1024;

/** Creates the test for `allUntil` that stops a read when a column's texts together are long enough. */
export function createLengthLimit(column: string, enough = READ_LENGTH): (row: Row) => boolean {
  let length = 0;
  return (row) => {
    length += String(row[column] ?? "").length;
    return length >= enough;
  };
}
