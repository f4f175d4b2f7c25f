import { expect, test } from "vitest";
import { parseTraceContext } from "../../../src/http/routes/trace-context.ts";

const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test.each([good, good.replace("-01", "-00"), `cc${good.slice(2)}`, `cc${good.slice(2)}-what-comes-later`])(
  "the traceparent %s is accepted",
  (header) => {
    expect(parseTraceContext({ traceparent: header })).toEqual({ traceparent: header, tracestate: null });
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
  expect(parseTraceContext({ traceparent: header, tracestate: "a=1" })).toEqual({ traceparent: null, tracestate: null });
});

test.each([
  "congo=t61rcWkgMzE",
  "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
  "rojo=1 ,\tcongo=2,,",
  "fw529a3039@dt=FfAAAAAA",
  Array.from({ length: 32 }, (_, index) => `k${index}=v`).join(","),
])("the tracestate %s is passed on unchanged", (tracestate) => {
  expect(parseTraceContext({ traceparent: good, tracestate }).tracestate).toBe(tracestate);
});

test.each([
  undefined,
  "",
  "  ",
  " ,, ",
  "nonsense",
  "a=1,b=2, a=3",
  "Upper=1",
  "a=1;b=2,c",
  "a=b=c",
  "a=é",
  `a=${"x".repeat(257)}`,
  Array.from({ length: 33 }, (_, index) => `k${index}=v`).join(","),
  Array.from({ length: 4 }, (_, index) => `k${index}=${"v".repeat(130)}`).join(","),
])("the tracestate %s is ignored", (tracestate) => {
  expect(parseTraceContext({ traceparent: good, tracestate })).toEqual({ traceparent: good, tracestate: null });
});
