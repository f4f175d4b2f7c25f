import type { Row } from "./driver.ts";

/** Characters that one read loads, give or take one row, because many readers may hold a page each. */
const READ_LENGTH = 1024 * 1024;

/** Creates the test for `allUntil` that stops a read when a column's texts together are long enough. */
export function createLengthLimit(column: string, enough = READ_LENGTH): (row: Row) => boolean {
  let length = 0;
  return (row) => {
    length += String(row[column] ?? "").length;
    return length >= enough;
  };
}
