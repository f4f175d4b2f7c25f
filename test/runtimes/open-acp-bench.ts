import { expect, onTestFinished } from "vitest";
import { createAcpAgentAdapter } from "../../adapters/acp-agent/index.ts";
import type { AcpAgent } from "../../adapters/acp-agent/settings.ts";
import { type AdapterBench, openBench } from "../conformance/adapter-bench.ts";

/** Opens a bench for an agent that an operator names in BRIDGE_ACP_AGENTS; the test fails if the adapter breaks the contract. */
export async function openAcpBench(provider: string, agent: AcpAgent, env: Record<string, string>): Promise<AdapterBench> {
  const bench = openBench({
    createAdapter: () => createAcpAgentAdapter(provider, agent),
    config: { env },
    hasProcesses: true,
    patienceMs: 60_000,
    scenarios: {} as Parameters<typeof openBench>[0]["scenarios"],
  });
  await bench.initialize();
  onTestFinished(async () => {
    await bench.close();
    expect(bench.breaches).toEqual([]);
  });
  return bench;
}
