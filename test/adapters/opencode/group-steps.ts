import type { ServerStep } from "../../../adapters/opencode/server-calls.ts";
import { applyStep } from "../../../adapters/shared/agent-program/run-program.ts";
import { createTaskTimeline } from "../../../adapters/shared/agent-program/task-timeline.ts";

/** Groups steps by kind. */
export function groupSteps(steps: readonly ServerStep[]) {
  const only = <Kind extends ServerStep["kind"]>(kind: Kind) =>
    steps.filter((step): step is Extract<ServerStep, { kind: Kind }> => step.kind === kind);
  const timeline = createTaskTimeline("t", () => {}, { streaming: true });
  for (const step of steps) if (step.kind !== "facts" && step.kind !== "ended" && step.kind !== "asked") applyStep(timeline, step);
  return {
    steps,
    tools: steps.filter(({ kind }) => kind.startsWith("tool.")),
    text: only("text").map(({ text }) => text),
    answer: timeline.answer,
    discarded: only("discarded").map(({ reason }) => reason),
    progress: only("progress").map(({ data }) => data),
    asked: only("asked"),
    facts: Object.assign({}, ...only("facts").map(({ facts }) => facts)) as Record<string, unknown>,
    ended: only("ended").map(({ outcome }) => outcome),
  };
}
