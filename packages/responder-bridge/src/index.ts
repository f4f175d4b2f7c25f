/** A model writes a document, a tool validates it, and the model corrects it until it is valid. */

export { type ArtifactStore, type ArtifactStoreOptions, createArtifactStore } from "./artifact-store.ts";
export { type CommandToolOptions, createCommandTool, exitCodeVerdict, type Verdict } from "./command-tool.ts";
export { createFlowmarkTool, flowmarkTopics } from "./flowmark-tool.ts";
export { createMaterialsLoader, type MaterialsLoader, type MaterialsLoaderOptions } from "./materials-loader.ts";
export type { ProgramOptions, ProgramRun } from "./program.ts";
export { type Attempt, composeFixPrompt, composePrompt, FIX_INSTRUCTION, type PromptInputs } from "./prompts.ts";
export type { GenerateRequest, GenerateResult, GenerateUsage, Message, Provider } from "./provider.ts";
export {
  createResponderBridge,
  type Iteration,
  type ResponderBridge,
  type ResponderBridgeOptions,
  type RunOptions,
  type RunRequest,
  type RunResult,
  type ToolTopic,
} from "./responder-bridge.ts";
export { ResponderError, type ResponderErrorCode } from "./responder-error.ts";
export type { ToolAdapter, ToolOptions, Validation } from "./tool-adapter.ts";
