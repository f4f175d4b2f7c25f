import { expect, test } from "vitest";
import { toRaiseUsd } from "../../../src/store/approvals/rows.ts";

test("an approval that raised only the maximum of tokens has no raise in US dollars", () => {
  const raiseOf = (micros: number | null) => toRaiseUsd({ state: "approved", raises: { micros, tokens: 10 } });
  expect([0, null, 250_000].map(raiseOf)).toEqual([null, null, 0.25]);
});
