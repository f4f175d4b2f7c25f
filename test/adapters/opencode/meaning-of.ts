import type { ServerStep } from "../../../adapters/opencode/server-events.ts";

/** Steps, taken apart. */
export function meaningOf(steps: readonly ServerStep[]) {
  const only = <Kind extends ServerStep["kind"]>(kind: Kind) =>
    steps.filter((step): step is Extract<ServerStep, { kind: Kind }> => step.kind === kind);
  const afterTools = steps.slice(steps.findLastIndex(({ kind }) => kind.startsWith("tool.")) + 1);
  return {
    steps,
    tools: steps.filter(({ kind }) => kind.startsWith("tool.")),
    text: only("text").map(({ text }) => text),
    answer: afterTools.map((step) => (step.kind === "text" ? step.text : "")).join(""),
    progress: only("progress").map(({ data }) => data),
    asked: only("asked"),
    facts: Object.assign({}, ...only("known").map(({ facts }) => facts)) as Record<string, unknown>,
    ended: only("ended").map(({ ending }) => ending),
  };
}
