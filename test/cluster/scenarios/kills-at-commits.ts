import type { ClusterNode } from "../cluster-node.ts";
import type { Scenario } from "../scenario.ts";

/**
 * Each node in turn is killed at one of its commits: before the server gets it, or after the server has committed and before the node
 * knows.
 */
export const killsAtCommits: Scenario = {
  name: "kills-at-commits",
  minCompleted: 0.5,
  async act({ nodes, random, times, count, expectSoon }) {
    for (let number = 0; number < times(12); number += 1) {
      const node = nodes[number % nodes.length] as ClusterNode;
      const side = random.pick(["request", "reply"] as const);
      let passed = random.integer(0, 30);
      let isKilled = false;
      node.proxy.cutCommitsWhile(() => {
        if (isKilled || passed > 0) {
          passed -= 1;
          return null;
        }
        isKilled = true;
        void node.kill();
        return side;
      });
      await expectSoon(`proof: ${node.name} does not commit`, () => isKilled);
      node.proxy.pass();
      await node.kill();
      count(`kills at ${side}`);
      await node.start();
    }
  },
};
