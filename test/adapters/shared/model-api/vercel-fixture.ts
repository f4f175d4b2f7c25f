import { onTestFinished } from "vitest";
import type { AdapterConfig } from "#contract";
import { createVercelAiAdapter } from "../../../../adapters/vercel-ai/index.ts";
import { type AdapterBench, type BenchTask, openBench, textAfterTools } from "../../../conformance/adapter-bench.ts";

export interface VercelFixture extends AdapterBench {
  lastTask(): BenchTask;
}

/** The adapter with the plainest connection to models, on a bench of its own until the test ends. */
export async function openVercelFixture(settings: Record<string, unknown>, config: Partial<AdapterConfig> = {}): Promise<VercelFixture> {
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
  let last: BenchTask | undefined;
  const start: AdapterBench["start"] = async (changes) => {
    last = await bench.start(changes);
    return last;
  };
  return {
    ...bench,
    start,
    async run(changes) {
      const { events, result } = await start(changes);
      return { result: await result, events, text: textAfterTools(events) };
    },
    lastTask() {
      if (last === undefined) throw new Error("There was no task.");
      return last;
    },
  };
}

/** These tests tell the endpoint what to do, not the bench. */
function refuse(): never {
  throw new Error("This bench has no scenarios.");
}
