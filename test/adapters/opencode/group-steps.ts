import type { ServerStep } from "../../../adapters/opencode/server-events.ts";
import { tellStep } from "../../../adapters/shared/agent-program/run-program.ts";
import { createTaskStory } from "../../../adapters/shared/agent-program/task-story.ts";

/** Groups steps by kind. */
export function groupSteps(steps: readonly ServerStep[]) {
  const only = <Kind extends ServerStep["kind"]>(kind: Kind) =>
    steps.filter((step): step is Extract<ServerStep, { kind: Kind }> => step.kind === kind);
  const story = createTaskStory("t", () => {}, { streaming: true });
  for (const step of steps) if (step.kind !== "known" && step.kind !== "ended" && step.kind !== "asked") tellStep(story, step);
  return {
    steps,
    tools: steps.filter(({ kind }) => kind.startsWith("tool.")),
    text: only("text").map(({ text }) => text),
    answer: story.answer,
    discarded: only("discarded").map(({ reason }) => reason),
    progress: only("progress").map(({ data }) => data),
    asked: only("asked"),
    facts: Object.assign({}, ...only("known").map(({ facts }) => facts)) as Record<string, unknown>,
    ended: only("ended").map(({ ending }) => ending),
  };
}
