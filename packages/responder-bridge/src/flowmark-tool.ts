import { createCommandTool, type Verdict } from "./command-tool.ts";
import type { ProgramOptions } from "./program.ts";
import { ResponderError } from "./responder-error.ts";
import type { ToolAdapter } from "./tool-adapter.ts";

/** The topics that a document for a model needs. FlowMark speaks English only. */
export const flowmarkTopics = {
  describe: { topic: "ai", arguments: ["--lang", "en"] },
  params: { topic: "normalize", arguments: ["--lang", "en"] },
} as const;

/** Creates the tool FlowMark (`ak2i/Flowmark-core`). A document is valid when there are no errors, whatever the warnings. */
export function createFlowmarkTool({ command = ["flowmark"], ...options }: Partial<ProgramOptions> = {}): ToolAdapter {
  const tool = createCommandTool({ name: "flowmark", ...options, command, verdict: hasNoErrors });

  return {
    ...tool,
    async describe(topic, more) {
      try {
        return await tool.describe(topic, more);
      } catch (error) {
        // What did not even run is no other program.
        if (!(error instanceof ResponderError) || error.output === null) throw error;
        throw new ResponderError("tool_failed", `${error.message} ${await diagnose(topic, more?.signal)}`, { output: error.output });
      }
    },
  };

  /** FlowMark crashes on a topic that it does not know, and another program has the same name: what both fail at tells them apart. */
  async function diagnose(topic: string, signal: AbortSignal | undefined): Promise<string> {
    const { topic: known, arguments: more } = flowmarkTopics.describe;
    const isFlowmark = await tool.describe(known, { arguments: more, signal }).then(Boolean, () => false);
    signal?.throwIfAborted();
    return isFlowmark
      ? `It knows \`${[known, ...more].join(" ")}\`; the topic ${JSON.stringify(topic)}, or what stands after it, may be unknown to it.`
      : "This is not the FlowMark that describes and validates; a formatter has the same name.";
  }
}

/** Exit code 1 stands for warnings only; what counts is the report. Null: it is none. */
const hasNoErrors: Verdict = ({ stdout }) => {
  try {
    const report: unknown = JSON.parse(stdout);
    if (typeof report !== "object" || report === null || !("errors" in report) || !Array.isArray(report.errors)) return null;
    return report.errors.length === 0;
  } catch {
    return null;
  }
};
