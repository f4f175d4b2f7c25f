import { expect, test } from "vitest";
import { scriptedScenarios } from "../adapters/scripted-run.ts";
import type { AdapterScenarios } from "./adapter-bench.ts";
import { checkScenarios } from "./check-scenarios.ts";

const { speak, echo, hang, fail } = scriptedScenarios;

test("the error names every missing scenario and what the runtime must do", () => {
  expect(() => checkScenarios({ speak, echo, fail, useTool: null })).toThrow(
    /^The subject of adapterConformance\(\) lacks scenarios\. Define:\n {2}scenarios\.hang: a function; the runtime works until it is canceled$/,
  );
  expect(() => checkScenarios()).toThrow(/speak: .*\n {2}scenarios\.echo: .*\n.*hang: .*\n.*fail: .*\n.*useTool: .*Set null/);
});

test("a failure needs an error code and a function", () => {
  for (const incomplete of [{ errorCode: "model_error" }, { ask: fail.ask }, null])
    expect(() => checkScenarios({ ...scriptedScenarios, fail: incomplete as AdapterScenarios["fail"] })).toThrow("scenarios.fail: {");
});

test("scenarios of abilities may be missing, because only an adapter that claims them needs them", () => {
  expect(() => checkScenarios({ speak, echo, hang, fail, useTool: null })).not.toThrow();
});
