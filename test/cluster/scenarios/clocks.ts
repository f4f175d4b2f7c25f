import path from "node:path";
import { pause } from "../pause.ts";
import type { Scenario } from "../scenario.ts";

const HOUR_MS = 3_600_000;
const shiftClock = path.resolve(import.meta.dirname, "../shift-clock.ts");

/** The clocks of two nodes are wrong by an hour. No node declares them dead, and both report it. */
export const wrongClocks: Scenario = {
  name: "wrong-clocks",
  leaseSeconds: 120,
  nodes: 3,
  programOf: (index) => (index === 2 ? {} : { nodeArguments: ["--import", shiftClock] }),
  environmentOf: (index) => ({ TEST_CLOCK_SHIFT_MS: String(index === 0 ? HOUR_MS : -HOUR_MS) }),
  async act({ nodes, sampler, onViolation, times, count }) {
    await pause(5000 + times(15_000));
    count("faults", 2);
    for (const { name, state } of sampler.nodes) if (state === "gone") onViolation(`clock: ${name} was declared dead`);
    for (const { name, life } of nodes.slice(0, 2))
      if (life?.warningLines.some((line) => line.includes("skewSeconds")) !== true) onViolation(`clock: ${name} did not report its clock`);
  },
};
