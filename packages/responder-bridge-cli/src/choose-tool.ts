import {
  createCommandTool,
  createFlowmarkTool,
  exitCodeVerdict,
  flowmarkTopics,
  type ToolAdapter,
  type ToolTopic,
} from "@hak2i/responder-bridge";
import { parseCommandString } from "execa";
import type { RunFlags } from "./create-command.ts";

/** The tool, and what it is asked. */
export interface ChosenTool {
  tool: ToolAdapter;
  describe: ToolTopic;
  params: ToolTopic | undefined;
}

/** The tool that the flags name. */
export function chooseTool(
  { tool: name, describe, params, validate, validExitCodes, toolTimeout, keyEnv }: RunFlags,
  env: NodeJS.ProcessEnv,
): ChosenTool {
  // A tool has no use for the keys to the models.
  const { [keyEnv]: _key, BRIDGE_TOKEN: _token, ...toolEnv } = env;
  const limits = { env: toolEnv, timeoutMs: toolTimeout * 1_000 };
  const isFlowmark = name === "flowmark";
  if (isFlowmark && (validate !== undefined || validExitCodes !== undefined)) {
    throw new Error("--validate and --valid-exit-codes are for other tools: flowmark has its own.");
  }
  if (!isFlowmark && describe === undefined) throw new Error("--describe is needed with this tool: what is it to be asked about?");
  return {
    tool: isFlowmark
      ? createFlowmarkTool(limits)
      : createCommandTool({
          ...limits,
          command: parseCommandString(name),
          validate: validate === undefined ? undefined : parseCommandString(validate),
          verdict: exitCodeVerdict({ valid: validExitCodes ?? [0] }),
        }),
    describe: describe === undefined ? flowmarkTopics.describe : readTopic("--describe", describe),
    params: params === undefined ? undefined : readTopic("--params", params),
  };
}

function readTopic(flag: string, text: string): ToolTopic {
  const [topic, ...more] = parseCommandString(text);
  if (topic === undefined) throw new Error(`${flag} is empty.`);
  return { topic, arguments: more };
}
