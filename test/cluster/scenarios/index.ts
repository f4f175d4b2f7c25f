import type { Scenario } from "../scenario.ts";
import { wrongClocks } from "./clocks.ts";
import { cutCommits, databaseAwayBriefly, databaseAwayLong, databaseCrashes, freezes, hintsLost, sessionsEnd } from "./database-faults.ts";
import { clonedDirectory, frozenNode, kills, lostNodes, stalledNode } from "./dead-nodes.ts";
import { otherNodes } from "./other-nodes.ts";
import { calm, oldSnapshot, rollingRestart } from "./without-faults.ts";

/** All scenarios, in the order in which the runner runs them. */
export const scenarios: readonly Scenario[] = [
  calm,
  oldSnapshot,
  databaseCrashes,
  cutCommits,
  sessionsEnd,
  hintsLost,
  databaseAwayBriefly,
  databaseAwayLong,
  freezes,
  kills,
  lostNodes,
  frozenNode,
  stalledNode,
  wrongClocks,
  clonedDirectory,
  rollingRestart,
  otherNodes,
];
