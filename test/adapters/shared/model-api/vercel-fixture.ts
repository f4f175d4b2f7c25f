import { onTestFinished } from "vitest";
import type { AdapterConfig } from "#contract";
import { createVercelAiAdapter } from "../../../../adapters/vercel-ai/index.ts";
import { type AdapterBench, type BenchTask, openBench, textAfterTools } from "../../../conformance/adapter-bench.ts";

export interface VercelFixture extends AdapterBench {
  lastTask(): BenchTask;
}

/** A fixture with the adapter that has the simplest model connection. Closed at the end of the test. */
export async function openVercelFixture(settings: Record<string, unknown>, config: Partial<AdapterConfig> = {}): Promise<VercelFixture> {
  const fixture = openBench({
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
  await fixture.initialize();
  onTestFinished(async () => {
    await fixture.close();
    if (fixture.breaches.length > 0) throw new Error(fixture.breaches.join("\n"));
  });
  let last: BenchTask | undefined;
  const start: AdapterBench["start"] = async (changes) => {
    last = await fixture.start(changes);
    return last;
  };
  return {
    ...fixture,
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

/** These tests configure the endpoint, not the fixture. */
function refuse(): never {
  throw new Error("This fixture has no scenarios.");
}
