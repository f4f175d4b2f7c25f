import { createCommandTool, type Verdict } from "./command-tool.ts";
import type { ProgramOptions } from "./program.ts";
import { ResponderError } from "./responder-error.ts";
import type { ToolAdapter } from "./tool-adapter.ts";

/** Topics of the prompt. FlowMark supports English only. */
export const flowmarkTopics = {
  describe: { topic: "ai", arguments: ["--lang", "en"] },
  params: { topic: "normalize", arguments: ["--lang", "en"] },
} as const;

/** Creates a tool that runs FlowMark (`ak2i/Flowmark-core`). A document with warnings but without errors is valid. */
export function createFlowmarkTool({ command = ["flowmark"], ...options }: Partial<ProgramOptions> = {}): ToolAdapter {
  const tool = createCommandTool({ name: "flowmark", ...options, command, verdict: hasNoErrors });

  return {
    ...tool,
    async describe(topic, toolOptions) {
      try {
        return await tool.describe(topic, toolOptions);
      } catch (error) {
        // Without output the program did not run, so there is nothing to diagnose.
        if (!(error instanceof ResponderError) || error.output === null) throw error;
        throw new ResponderError("tool_failed", `${error.message} ${await diagnose(topic, toolOptions?.signal)}`, { output: error.output });
      }
    },
  };

  /**
   * Distinguishes two causes of a failure: FlowMark crashes on an unknown topic, and a formatter with the same name
   * fails on every topic.
   */
  async function diagnose(topic: string, signal: AbortSignal | undefined): Promise<string> {
    const { topic: known, arguments: toolArguments } = flowmarkTopics.describe;
    const isFlowmark = await tool.describe(known, { arguments: toolArguments, signal }).then(Boolean, () => false);
    signal?.throwIfAborted();
    return isFlowmark
      ? `\`${["describe", known, ...toolArguments].join(" ")}\` works, so FlowMark may not know the topic ${JSON.stringify(topic)} or its arguments.`
      : "This program is not the FlowMark that supports describe and validate. A formatter has the same name.";
  }
}

/** Reads the JSON report, because exit code 1 may mean warnings only. Null when stdout is not a report. */
const hasNoErrors: Verdict = ({ stdout }) => {
  try {
    const report: unknown = JSON.parse(stdout);
    if (typeof report !== "object" || report === null || !("errors" in report) || !Array.isArray(report.errors)) return null;
    return report.errors.length === 0;
  } catch {
    return null;
  }
};
