import { onTestFinished } from "vitest";
import type { AdapterConfig } from "#contract";
import { createVercelAiAdapter } from "../../../adapters/vercel-ai/index.ts";
import { type AdapterBench, openBench } from "../../conformance/adapter-bench.ts";

/** The adapter with the plainest connection to models, on a bench of its own until the test ends. */
export async function openVercelBench(settings: Record<string, unknown>, config: Partial<AdapterConfig> = {}): Promise<AdapterBench> {
  const bench = openBench({
    createAdapter: createVercelAiAdapter,
    config: { ...config, settings: { model: "raw", ...settings } },
    scenarios: {
      speak: refuse,
      echo: refuse,
      hang: refuse,
      fail: { errorCode: "model_error", ask: refuse },
      useTool: null,
      resume: null,
      cost: null,
    },
    hasProcesses: false,
  });
  await bench.initialize();
  onTestFinished(async () => {
    await bench.close();
    if (bench.breaches.length > 0) throw new Error(bench.breaches.join("\n"));
  });
  return bench;
}

/** These tests tell the endpoint what to do, not the bench. */
function refuse(): never {
  throw new Error("This bench has no scenarios.");
}
