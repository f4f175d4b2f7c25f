import { rejectOnAbort } from "@hak2i/async-kit";
import type { ArtifactStore } from "./artifact-store.ts";
import { createMaterialsLoader, type MaterialsLoader } from "./materials-loader.ts";
import { type Attempt, composeFixPrompt, composePrompt, type PromptInputs } from "./prompts.ts";
import type { Message, Provider } from "./provider.ts";
import { ResponderError } from "./responder-error.ts";
import { createRunArtifacts, type RunArtifacts } from "./run-artifacts.ts";
import type { ToolAdapter } from "./tool-adapter.ts";

/** A question to the tool: its topic, and what stands after it. */
export interface ToolTopic {
  topic: string;
  arguments?: readonly string[] | undefined;
}

/** One document to be made. */
export interface RunRequest {
  /** Empty or absent: the provider's own choice. */
  model?: string | undefined;
  describe: ToolTopic;
  params?: ToolTopic | undefined;
  /** Paths of files; nothing else is read. */
  materials?: readonly string[] | undefined;
  /** 1 to 100, 3 unless said otherwise. */
  maxIterations?: number | undefined;
  temperature?: number | undefined;
}

/** How one iteration went. */
export interface Iteration {
  /** From 1. */
  iteration: number;
  maxIterations: number;
  ok: boolean;
}

/** Who accompanies a run. */
export interface RunOptions {
  signal?: AbortSignal | undefined;
  /** Called before each request to the provider. */
  onRequest?: ((request: Pick<Iteration, "iteration" | "maxIterations">) => void) | undefined;
  /** Called after each iteration. */
  onIteration?: ((iteration: Iteration) => void) | undefined;
}

/** What comes of a run. */
export interface RunResult {
  ok: boolean;
  /** The last draft; it is valid if `ok`. */
  document: string;
  logText: string;
  iterations: number;
  /** Names of what was written, in order. */
  artifacts: string[];
}

/** The loop: a provider generates, a tool validates, and the draft goes back with the log until it is valid. */
export interface ResponderBridge {
  /**
   * Resolves with a document, valid or, after the last iteration, not. Rejects when it cannot go on, with the error of the part that failed
   * or the signal's reason; what was done until then is in the artifacts.
   */
  run(request: RunRequest, options?: RunOptions): Promise<RunResult>;
}

/** What a loop is made of. */
export interface ResponderBridgeOptions {
  provider: Provider;
  tool: ToolAdapter;
  artifacts: ArtifactStore;
  /** Default: local files. */
  materials?: MaterialsLoader | undefined;
}

/** More iterations help no model. */
const HIGHEST_MAX_ITERATIONS = 100;

/** Creates a loop for one run: its artifacts have one directory. */
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
        // If the artifacts are what failed, the error that tells so is this one.
        await record.end({ ok: false, error: describeError(error) }).catch(() => {});
        throw error;
      }
    },
  };

  function check({ params }: RunRequest, maxIterations: number): void {
    if (!Number.isInteger(maxIterations) || maxIterations < 1 || maxIterations > HIGHEST_MAX_ITERATIONS) {
      throw new ResponderError("invalid_request", `maxIterations has to be a whole number from 1 to ${HIGHEST_MAX_ITERATIONS}.`);
    }
    if (params !== undefined && tool.params === undefined) throw new ResponderError("invalid_request", "The tool has no params.");
  }

  async function gather({ describe, params, materials: paths = [] }: RunRequest, signal: AbortSignal | undefined): Promise<PromptInputs> {
    // First what fails soonest.
    const blocks = await rejectOnAbort(materials.load(paths), signal);
    const ask = { signal };
    return {
      materials: blocks,
      describe: await rejectOnAbort(tool.describe(describe.topic, { arguments: describe.arguments, ...ask }), signal),
      params:
        params === undefined || tool.params === undefined
          ? null
          : await rejectOnAbort(tool.params(params.topic, { arguments: params.arguments, ...ask }), signal),
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
      await record.prompt(iteration, messages);
      onRequest?.({ iteration, maxIterations });
      const { text: draft }: { text: string } = await rejectOnAbort(provider.generate({ model, messages, temperature, signal }), signal);
      const file = await record.draft(iteration, draft);
      const { ok, logText } = await rejectOnAbort(tool.validate(file, { signal }), signal).catch(async (error: unknown) => {
        const output = error instanceof ResponderError ? error.output : null;
        await record.log(iteration, `No verdict: ${describeError(error)}\n${output ?? ""}`);
        throw error;
      });
      await record.log(iteration, logText);
      onIteration?.({ iteration, maxIterations, ok });
      attempt = { draft, logText };
      if (ok || iteration === maxIterations) return { ...attempt, ok, iterations: iteration };
    }
  }
}

const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
