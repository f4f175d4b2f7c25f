import { expect, test } from "vitest";
import { z } from "zod";
import { encodeCursor, pageQuery, toPage } from "../../../src/http/wire/pagination.ts";

const query = z.strictObject(pageQuery);
const rows = [5, 4, 3].map((seq) => ({ seq }));

test("a cursor is parsed into the row that it was created from", () => {
  for (const key of [1, 42, Number.MAX_SAFE_INTEGER])
    expect(query.parse({ cursor: encodeCursor(key) })).toEqual({ limit: 50, cursor: key });
});

test.each([
  "",
  "x",
  encodeCursor(0),
  encodeCursor(-1),
  encodeCursor(1.5),
  encodeCursor("5"),
  `${encodeCursor(5)}=`,
  `${encodeCursor(5)}x`,
  "1e400",
  "x".repeat(500),
])("a cursor that Bridge did not issue is rejected: %s", (cursor) => {
  expect(query.safeParse({ cursor }).success).toBe(false);
});

test("a page reports whether another page follows", () => {
  const page = (hasMore: boolean) =>
    toPage(
      rows,
      hasMore,
      ({ seq }) => `row ${seq}`,
      ({ seq }) => seq,
    );
  const data = ["row 5", "row 4", "row 3"];
  expect(page(false)).toEqual({ data, meta: { nextCursor: null } });
  expect(page(true)).toEqual({ data, meta: { nextCursor: encodeCursor(3) } });
  expect(
    toPage(
      [],
      false,
      () => "",
      () => 0,
    ),
  ).toEqual({ data: [], meta: { nextCursor: null } });
});
