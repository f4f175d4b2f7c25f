import { expect, test } from "vitest";
import { assignSlots } from "../../src/live/row-slots.ts";

const slotsOf = (slots: ReadonlyMap<string, number>): string => [...slots].map(([id, slot]) => `${id}${slot}`).join(" ");

test("rows of a distant part of the list take the slots of the rows that left", () => {
  const before = assignSlots(new Map(), ["a", "b", "c"], true);
  expect(slotsOf(before)).toBe("a0 b1 c2");
  expect(slotsOf(assignSlots(before, ["x", "y", "z"], true))).toBe("x0 y1 z2");
  expect(slotsOf(assignSlots(before, ["w", "x", "y", "z"], true))).toBe("w0 x1 y2 z3");
  expect(slotsOf(assignSlots(before, ["c", "y", "z"], true))).toBe("c2 y0 z1");
});

test("rows that stay keep their slots, and while most stay, a new row takes a new slot", () => {
  const before = assignSlots(new Map(), ["a", "b", "c"], true);
  const after = assignSlots(before, ["n", "a", "b"], true);
  expect(slotsOf(after)).toBe("n3 a0 b1");
  expect(slotsOf(assignSlots(after, ["m", "n", "a"], true))).toBe("m4 n3 a0");
});

test("without a scroll, no row takes the slot of another one, so a click reaches the task that was visible", () => {
  const before = assignSlots(new Map(), ["a", "b", "c"], false);
  expect(slotsOf(assignSlots(before, ["x", "y", "c"], false))).toBe("x3 y4 c2");
});
