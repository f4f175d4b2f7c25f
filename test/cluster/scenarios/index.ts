import type { Scenario } from "../scenario.ts";
import { wrongClocks } from "./clocks.ts";
import { cutCommits, databaseAwayBriefly, databaseAwayLong, databaseCrashes, freezes, hintsLost, sessionsEnd } from "./database-faults.ts";
import { clonedDirectory, frozenNode, kills, lostNodes, stalledNode } from "./dead-nodes.ts";
import { deadReceivers } from "./dead-receivers.ts";
import { failover } from "./failover.ts";
import { families } from "./families.ts";
import { killsAtCommits } from "./kills-at-commits.ts";
import { oldSnapshot } from "./old-snapshot.ts";
import { otherNodes } from "./other-nodes.ts";
import { rollingRestart, rollingUpgrade } from "./restarts.ts";
import { calm } from "./without-faults.ts";

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
  failover,
  kills,
  killsAtCommits,
  lostNodes,
  frozenNode,
  stalledNode,
  wrongClocks,
  clonedDirectory,
  rollingRestart,
  rollingUpgrade,
  families,
  deadReceivers,
  otherNodes,
];
