import { z } from "zod";
import { jsonObjectSchema } from "#contract";
import type { Step } from "../shared/agent-program/run-program.ts";

const input = jsonObjectSchema;
/** The current state of a tool call. */
export const toolPartSchema = z.object({
  type: z.literal("tool"),
  tool: z.string(),
  callID: z.string(),
  state: z.discriminatedUnion("status", [
    z.object({ status: z.literal("pending") }),
    z.object({ status: z.literal("running"), input }),
    z.object({
      status: z.literal("completed"),
      input,
      output: z.string(),
      metadata: z.looseObject({ exit: z.number().nullish() }).optional(),
    }),
    z.object({ status: z.literal("error"), input, error: z.string() }),
  ]),
});
export type ToolPart = z.infer<typeof toolPartSchema>;

/** OpenCode replaces a call of an unknown tool, or with an invalid input, by a call of this tool. It succeeds and outputs the reason. */
const REJECTED = "invalid";

/** Converts the state of a call to steps. They can repeat earlier steps of the call; the timeline ignores repeated steps. */
export function readToolCall({ callID, tool, state }: ToolPart): Step[] {
  if (state.status === "pending") return [];
  const toolName = tool === REJECTED ? String(state.input["tool"] ?? tool) : tool;
  const invoked: Step = { kind: "tool.invoked", toolCallId: callID, toolName, input: state.input };
  if (state.status === "running") return [invoked];
  const failed = state.status === "error";
  // OpenCode reports a failed command as a completed call with an exit code.
  const isError = failed || tool === REJECTED || (state.metadata?.exit ?? 0) !== 0;
  const output = failed ? state.error : state.output;
  const completed = { kind: "tool.completed", toolCallId: callID, output, isError } as const;
  // If the model's stream broke during the call, the call did not run. OpenCode closes it after the answer.
  const hasRun = !(failed && state.error === ABORTED && Object.keys(state.input).length === 0);
  return hasRun ? [invoked, completed] : [{ ...completed, toolName }];
}

/** The error of a call that OpenCode closes because it was not complete. */
const ABORTED = "Tool execution aborted";
