import { onTestFinished } from "vitest";
import type { AdapterConfig, ExecutionAdapter, NormalizedUsage } from "#contract";
import { type AdapterSubject, openBench } from "../../../conformance/adapter-bench.ts";
import type { ModelServer } from "../../../runtimes/model-server/server.ts";
import { openEndpoint } from "./raw-endpoint.ts";

/** An adapter whose programs are not installed, against the scripted model. */
export function apiSubject(
  model: ModelServer,
  createAdapter: () => ExecutionAdapter,
  { usage, ...config }: Pick<AdapterConfig, "env" | "settings"> & { usage: NormalizedUsage },
): AdapterSubject {
  const asks = (steps: Parameters<ModelServer["scenario"]>[0]) => ({ systemPrompt: `Be brief. ${model.scenario(steps)}` });
  return {
    createAdapter,
    config,
    hasProcesses: false,
    scenarios: {
      speak: (text) => asks([{ text }]),
      echo: () => asks([{ echo: true }]),
      hang: () => asks([{ hang: true, say: "I begin." }]),
      fail: { errorCode: "authentication_required", ask: () => asks([{ error: 401 }]) },
      useTool: null,
      resume: {
        remember: (text) => ({ ...asks([{ text: "I will." }]), message: `Remember ${text}.` }),
        recall: () => ({ ...asks([{ recall: true }]), message: "What was it?" }),
        usagePerTurn: usage,
      },
      cost: null,
    },
  };
}

/** A running adapter. */
export async function openApi(createAdapter: () => ExecutionAdapter, config: Partial<AdapterConfig>) {
  const fixture = openBench({ createAdapter, config, hasProcesses: false, scenarios: undefined as never });
  onTestFinished(() => fixture.close());
  await fixture.initialize();
  return fixture;
}

/** The response of an endpoint to any request. */
interface Answer {
  status?: number;
  /** Frames of a stream, or a whole body. */
  frames?: readonly object[];
  body?: unknown;
  /** The connection breaks after it. */
  cut?: boolean;
}

/** An endpoint that returns these responses one after the other and repeats the last one; `bodies` are the received requests. */
export async function endpointWith(...answers: Answer[]): Promise<{ url: string; bodies: Record<string, unknown>[] }> {
  const bodies: Record<string, unknown>[] = [];
  const { url } = await openEndpoint(({ body: asked, response }) => {
    bodies.push(asked);
    const { status = 200, frames, body, cut } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
    response.writeHead(status, { "content-type": frames === undefined ? "application/json" : "text/event-stream", "retry-after-ms": "1" });
    for (const frame of frames ?? []) response.write(`data: ${JSON.stringify(frame)}\n\n`);
    if (cut === true) setImmediate(() => response.destroy());
    else response.end(frames === undefined ? JSON.stringify(body ?? {}) : "");
  });
  return { url, bodies };
}
