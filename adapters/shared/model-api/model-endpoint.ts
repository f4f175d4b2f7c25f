import type { LanguageModel, ProviderMetadata } from "ai";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../agent-program/agent-program.ts";
import type { Outcome, Step } from "../agent-program/run-program.ts";

/** The API of a vendor, or one that speaks like it: everything in which a connection to models differs from the others. */
export interface ModelEndpoint {
  /** Where it is, for the operator; holds no secret. */
  baseUrl: string;
  /** The model of a task that names none; null: it must name one. */
  defaultModel: string | null;
  /** What no error text may show, such as the API key. */
  secrets: readonly string[];
  /**
   * Makes the model of a task. It must do all its requests with this `fetch`, which belongs to the adapter, follows no redirect, and holds no
   * connection beyond shutdown. What it throws, `explainError` may explain.
   */
  createModel(modelId: string, fetch: ModelFetch, request: ExecutionRequest): Exclude<LanguageModel, string>;
  /** Holds its models to a JSON Schema by itself. Default: it does not, and the schema stands in the message. */
  structuredOutput?: boolean;
  /** Why it cannot carry a task for this model, and what to do about it; null when it can. */
  unsupportedReason?(modelId: string, request: ExecutionRequest): string | null;
  /** What the answer of one call tells beside its text, such as the model that was really used. */
  readMetadata?(metadata: ProviderMetadata | undefined): readonly Step[];
  /**
   * A request that costs nothing and is refused without valid credentials; it may also reject with a ModelFailure that says what is wrong
   * with them. Default: GET `baseUrl`/models without any.
   */
  probe?(fetch: ModelFetch, signal: AbortSignal): Promise<Response>;
  /** What an error of its own means; undefined: what such an error means everywhere. Its text may show no secret. */
  explainError?(error: unknown): Outcome | undefined;
}

export type ModelFetch = typeof globalThis.fetch;

/** The endpoint that the settings name, or what to do about there being none, in words for the operator. */
export type FindEndpoint = (context: ProgramContext) => ModelEndpoint | { missing: string };
