import { describe, test } from "vitest";
import { type AdapterSubject, openBench } from "./adapter-bench.ts";
import { adapterChecks, runAdapterCheck } from "./adapter-checks.ts";
import { checkScenarios } from "./check-scenarios.ts";

export type { AdapterScenarios, AdapterSubject } from "./adapter-bench.ts";

/**
 * Tests an adapter against the contract. Call it in a vitest file, with a subject that defines how to control the runtime.
 * The tests also check that the adapter does not have abilities that it does not claim.
 * Outside this repository, vitest must transform the package: `test: { server: { deps: { inline: ["bridge-server"] } } }`.
 */
export function adapterConformance(name: string, subject: AdapterSubject): void {
  describe(`${name} follows the adapter contract`, async () => {
    checkScenarios(subject.scenarios);
    const claims = await claimsOf(subject);
    for (const check of adapterChecks) {
      const claimed = check.ability === undefined || claims[check.ability];
      const act = claimed ? check.check : check.refused;
      if (act === undefined) continue;
      const title = claimed ? check.name : `does not claim ${check.ability}`;
      test(title, { timeout: 60_000 }, () => runAdapterCheck(check, act, subject));
    }
  });
}

/** An adapter may know its capabilities only after it has reached its runtime. */
async function claimsOf(subject: AdapterSubject) {
  const bench = openBench(subject);
  try {
    await bench.initialize();
    return bench.adapter.capabilities();
  } finally {
    await bench.close();
  }
}
