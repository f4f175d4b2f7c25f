import { expect, test } from "vitest";
import { assignSlots } from "../../../web/src/live/row-slots.ts";

const slotsOf = (slots: ReadonlyMap<string, number>): string => [...slots].map(([id, slot]) => `${id}${slot}`).join(" ");

test("rows of a distant part of the list take the slots of the rows that left", () => {
  const before = assignSlots(new Map(), ["a", "b", "c"]);
  expect(slotsOf(before)).toBe("a0 b1 c2");
  expect(slotsOf(assignSlots(before, ["x", "y", "z"]))).toBe("x0 y1 z2");
  expect(slotsOf(assignSlots(before, ["w", "x", "y", "z"]))).toBe("w0 x1 y2 z3");
  expect(slotsOf(assignSlots(before, ["c", "y", "z"]))).toBe("c2 y0 z1");
});

test("rows that stay keep their slots, and while most stay, a new row takes a new slot", () => {
  const before = assignSlots(new Map(), ["a", "b", "c"]);
  const after = assignSlots(before, ["n", "a", "b"]);
  expect(slotsOf(after)).toBe("n3 a0 b1");
  expect(slotsOf(assignSlots(after, ["m", "n", "a"]))).toBe("m4 n3 a0");
});
