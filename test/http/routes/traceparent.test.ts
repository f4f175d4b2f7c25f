import { expect, test } from "vitest";
import { parseTraceparent } from "../../../src/http/routes/traceparent.ts";

const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test.each([good, good.replace("-01", "-00"), `cc${good.slice(2)}`, `cc${good.slice(2)}-what-comes-later`])(
  "the traceparent %s is accepted",
  (header) => {
    expect(parseTraceparent(header)).toBe(header);
  },
);

test.each([
  undefined,
  "",
  "nonsense",
  good.toUpperCase(),
  `ff${good.slice(2)}`,
  `${good}-more`,
  good.slice(0, -1),
  `${good}0`,
  good.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)),
  good.replace("b7ad6b7169203331", "0".repeat(16)),
  `cc${good.slice(2)}-${"x".repeat(600)}`,
  `${good}, ${good}`,
])("the traceparent %s is ignored", (header) => {
  expect(parseTraceparent(header)).toBeNull();
});
