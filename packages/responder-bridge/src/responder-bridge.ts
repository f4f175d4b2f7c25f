import { rejectOnAbort } from "@hak2i/async-kit";
import type { ArtifactStore } from "./artifact-store.ts";
import { createMaterialsLoader, type MaterialsLoader } from "./materials-loader.ts";
import { type Attempt, composeFixPrompt, composePrompt, type PromptInputs } from "./prompts.ts";
import type { Message, Provider } from "./provider.ts";
import { ResponderError } from "./responder-error.ts";
import { createRunArtifacts, type RunArtifacts } from "./run-artifacts.ts";
import type { ToolAdapter } from "./tool-adapter.ts";

/** A topic of the tool and its arguments. */
export interface ToolTopic {
  topic: string;
  arguments?: readonly string[] | undefined;
}

/** Request for one document. */
export interface RunRequest {
  /** Empty or absent: the default of the provider. */
  model?: string | undefined;
  describe: ToolTopic;
  params?: ToolTopic | undefined;
  /** Paths of the files to read. */
  materials?: readonly string[] | undefined;
  /** 1 to 100. Default: 3. */
  maxIterations?: number | undefined;
  temperature?: number | undefined;
}

/** Result of one iteration. */
export interface Iteration {
  /** Starts at 1. */
  iteration: number;
  maxIterations: number;
  ok: boolean;
}

/** Abort signal and progress callbacks of a run. */
export interface RunOptions {
  signal?: AbortSignal | undefined;
  /** Called before each request to the provider. */
  onRequest?: ((request: Pick<Iteration, "iteration" | "maxIterations">) => void) | undefined;
  /** Called after each iteration. */
  onIteration?: ((iteration: Iteration) => void) | undefined;
}

/** Result of a run. */
export interface RunResult {
  ok: boolean;
  /** The last draft; valid if `ok` is true. */
  document: string;
  logText: string;
  iterations: number;
  /** Names of the written files, in order. */
  artifacts: string[];
}

/** The loop: the provider generates a draft, the tool validates it, and the provider corrects it with the log until it is valid. */
export interface ResponderBridge {
  /**
   * Resolves with the last draft, which is invalid if the iterations are used up. Rejects with the error of the part
   * that failed or with the signal's reason. The artifacts contain all completed steps.
   */
  run(request: RunRequest, options?: RunOptions): Promise<RunResult>;
}

/** Parts of the loop. */
export interface ResponderBridgeOptions {
  provider: Provider;
  tool: ToolAdapter;
  artifacts: ArtifactStore;
  /** Default: a loader of local files. */
  materials?: MaterialsLoader | undefined;
}

/** Limits the cost of a document that a model cannot correct. */
const MAX_ITERATIONS_LIMIT = 100;

/** Creates a loop for one run. */
export function createResponderBridge({
  provider,
  tool,
  artifacts,
  materials = createMaterialsLoader(),
}: ResponderBridgeOptions): ResponderBridge {
  return {
    async run(request, options = {}) {
      const { describe, params, maxIterations = 3, model = "" } = request;
      const { signal } = options;
      const startedAt = new Date().toISOString();
      check(request, maxIterations);
      signal?.throwIfAborted();
      const inputs = await gather(request, signal);
      const record = createRunArtifacts(artifacts, {
        provider: provider.name ?? null,
        model: model === "" ? null : model,
        tool: { name: tool.name ?? null, version: (tool.version && (await rejectOnAbort(tool.version({ signal }), signal))) ?? null },
        describeTopic: describe.topic,
        describeArguments: describe.arguments ?? [],
        paramsTopic: params?.topic ?? null,
        paramsArguments: params?.arguments ?? [],
        maxIterations,
        started_at: startedAt,
      });
      await record.begin(inputs);
      try {
        const { ok, iterations, draft, logText } = await iterate({ ...request, model, maxIterations }, inputs, record, options);
        await record.end({ ok, error: null });
        return { ok, document: draft, logText, iterations, artifacts: artifacts.list() };
      } catch (error) {
        // If writing the artifacts failed, report that error and not a second one.
        await record.end({ ok: false, error: describeError(error) }).catch(() => {});
        throw error;
      }
    },
  };

  function check({ params }: RunRequest, maxIterations: number): void {
    if (!Number.isInteger(maxIterations) || maxIterations < 1 || maxIterations > MAX_ITERATIONS_LIMIT) {
      throw new ResponderError("invalid_request", `maxIterations must be an integer from 1 to ${MAX_ITERATIONS_LIMIT}.`);
    }
    if (params !== undefined && tool.params === undefined)
      throw new ResponderError("invalid_request", "This tool has no params command; omit params.");
  }

  async function gather({ describe, params, materials: paths = [] }: RunRequest, signal: AbortSignal | undefined): Promise<PromptInputs> {
    // Materials are loaded first, because they fail fastest.
    const blocks = await rejectOnAbort(materials.load(paths), signal);
    return {
      materials: blocks,
      describe: await rejectOnAbort(tool.describe(describe.topic, { arguments: describe.arguments, signal }), signal),
      params:
        params === undefined || tool.params === undefined
          ? null
          : await rejectOnAbort(tool.params(params.topic, { arguments: params.arguments, signal }), signal),
    };
  }

  async function iterate(
    { model, temperature, maxIterations }: RunRequest & { model: string; maxIterations: number },
    inputs: PromptInputs,
    record: RunArtifacts,
    { signal, onRequest, onIteration }: RunOptions,
  ): Promise<Attempt & { ok: boolean; iterations: number }> {
    let attempt: Attempt | null = null;
    for (let iteration = 1; ; iteration += 1) {
      signal?.throwIfAborted();
      const messages: Message[] = attempt === null ? composePrompt(inputs) : composeFixPrompt(inputs, attempt);
      await record.writePrompt(iteration, messages);
      onRequest?.({ iteration, maxIterations });
      const { text: draft }: { text: string } = await rejectOnAbort(provider.generate({ model, messages, temperature, signal }), signal);
      const file = await record.writeDraft(iteration, draft);
      const { ok, logText } = await rejectOnAbort(tool.validate(file, { signal }), signal).catch(async (error: unknown) => {
        const output = error instanceof ResponderError ? error.output : null;
        await record.writeLog(iteration, `No verdict: ${describeError(error)}\n${output ?? ""}`);
        throw error;
      });
      await record.writeLog(iteration, logText);
      onIteration?.({ iteration, maxIterations, ok });
      attempt = { draft, logText };
      if (ok || iteration === maxIterations) return { ...attempt, ok, iterations: iteration };
    }
  }
}

const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
