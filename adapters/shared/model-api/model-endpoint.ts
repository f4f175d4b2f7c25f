import type { LanguageModel, ProviderMetadata } from "ai";
import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../agent-program/agent-program.ts";
import type { Outcome, Step } from "../agent-program/run-program.ts";

/** The model API of a vendor, or a compatible one: everything that is specific to one model connection. */
export interface ModelEndpoint {
  /** Contains no secrets, because health reports show its origin. */
  baseUrl: string;
  /** The model of a task that sets none; null: the task must set one. */
  defaultModel: string | null;
  /** Values that are removed from error messages, such as the API key. */
  secrets: readonly string[];
  /**
   * Creates the model of a task. All requests must use this `fetch`, which follows no redirects and is closed at
   * shutdown. `explainError` receives the errors that this method throws.
   */
  createModel(modelId: string, fetch: ModelFetch, request: ExecutionRequest): Exclude<LanguageModel, string>;
  /** The endpoint enforces a JSON Schema. Default: false; the schema is part of the message. */
  structuredOutput?: boolean;
  /** The endpoint accepts images in the results of tools. Default: false; the model receives a note with their type and size. */
  toolImages?: boolean;
  /** Why the endpoint does not support a task with this model, and what to do; null if it does. */
  unsupportedReason?(modelId: string, request: ExecutionRequest): string | null;
  /** Reads steps from the metadata of one model call, such as the model that answered. */
  readMetadata?(metadata: ProviderMetadata | undefined): readonly Step[];
  /**
   * Sends a free request that requires valid credentials. Rejects with a `ModelFailure` if the credentials are known to
   * be invalid. Default: GET `baseUrl`/models without credentials.
   */
  probe?(fetch: ModelFetch, signal: AbortSignal): Promise<Response>;
  /**
   * The outcome of an error that only this endpoint reports; undefined: explained as for all endpoints. The message
   * must not contain secrets.
   */
  explainError?(error: unknown): Outcome | undefined;
}

export type ModelFetch = typeof globalThis.fetch;

/** Returns the configured endpoint, or advice for the operator if none is configured. */
export type FindEndpoint = (context: ProgramContext) => ModelEndpoint | { missing: string };
