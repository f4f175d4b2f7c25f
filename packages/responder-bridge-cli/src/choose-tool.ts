import { readFileSync } from "node:fs";
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

/** The tool and the topics that it is called with. */
export interface SelectedTool {
  tool: ToolAdapter;
  describe: ToolTopic;
  params: ToolTopic | undefined;
}

/** Creates the tool that the flags select. Throws if the flags contradict each other or a file cannot be read. */
export function chooseTool(flags: RunFlags, env: NodeJS.ProcessEnv): SelectedTool {
  const { tool: name, describe, params, validate, validExitCodes, toolTimeout, keyEnv } = flags;
  const description = readDescription(flags);
  // Secrets of the provider are not passed to the tool.
  const { [keyEnv]: _key, BRIDGE_TOKEN: _token, ...toolEnv } = env;
  const limits = { env: toolEnv, timeoutMs: toolTimeout * 1_000 };
  const isFlowmark = name === "flowmark";
  if (isFlowmark && (validate !== undefined || validExitCodes !== undefined)) {
    throw new Error("--validate and --valid-exit-codes cannot be used with --tool flowmark, which defines both.");
  }
  if (!isFlowmark && describe === undefined && description === null) {
    throw new Error("This tool needs --describe with a topic, or the description itself in --describe-text or --describe-file.");
  }
  const tool = isFlowmark
    ? createFlowmarkTool(limits)
    : createCommandTool({
        ...limits,
        command: parseCommandString(name),
        validate: validate === undefined ? undefined : parseCommandString(validate),
        verdict: exitCodeVerdict({ valid: validExitCodes ?? [0] }),
      });
  const topic = describe === undefined ? flowmarkTopics.describe : readTopic("--describe", describe);
  return {
    tool: description === null ? tool : { ...tool, describe: () => Promise.resolve(description.text) },
    describe: description === null ? topic : { topic: description.source },
    params: params === undefined ? undefined : readTopic("--params", params),
  };
}

/** Returns the format description from the flags and its source; null when the tool provides the description. */
function readDescription({ describeText: text, describeFile: file }: RunFlags): { text: string; source: string } | null {
  if (text === undefined && file === undefined) return null;
  const description =
    text === undefined ? { text: readDescriptionFile(file as string), source: file as string } : { text, source: "--describe-text" };
  if (description.text.trim() === "") throw new Error(`${text === undefined ? "--describe-file" : "--describe-text"} is empty.`);
  return description;
}

function readDescriptionFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`--describe-file cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function readTopic(flag: string, text: string): ToolTopic {
  const [topic, ...more] = parseCommandString(text);
  if (topic === undefined) throw new Error(`${flag} is empty.`);
  return { topic, arguments: more };
}
