import type { AdapterScenarios } from "./adapter-bench.ts";

/** The scenarios that every subject must define, and what the runtime must do. */
const REQUIRED_SCENARIOS = {
  speak: "a function of a text; the runtime answers with exactly this text",
  echo: "a function; the runtime answers with exactly the message",
  hang: "a function; the runtime works until it is canceled",
  fail: "{ errorCode, ask }; ask is a function, and the task must fail with this error code",
  useTool: "a function; the runtime uses at least one tool and then answers. Set null if the runtime has no tools",
} as const satisfies Partial<Record<keyof AdapterScenarios, string>>;

type RequiredScenario = keyof typeof REQUIRED_SCENARIOS;

/** Throws an error that lists the missing scenarios of a subject. The compiler finds them only in TypeScript. */
export function checkScenarios(scenarios: Partial<AdapterScenarios> = {}): void {
  const names = Object.keys(REQUIRED_SCENARIOS) as RequiredScenario[];
  const missing = names.filter((name) => !isDefined(scenarios, name));
  if (missing.length === 0) return;
  const remedies = missing.map((name) => `\n  scenarios.${name}: ${REQUIRED_SCENARIOS[name]}`);
  throw new Error(`The subject of adapterConformance() lacks scenarios. Define:${remedies.join("")}`);
}

function isDefined(scenarios: Partial<AdapterScenarios>, name: RequiredScenario): boolean {
  if (name === "fail") return typeof scenarios.fail?.errorCode === "string" && typeof scenarios.fail.ask === "function";
  return typeof scenarios[name] === "function" || (name === "useTool" && scenarios.useTool === null);
}
