import type { Writable } from "node:stream";
import { z } from "zod";
import type { AdapterConfig } from "#contract";
import { type ExecutionRequest, stringifyWellFormed } from "#contract";
import { decideApproval } from "../shared/agent-program/decide-approval.ts";
import { formatProgramInput } from "./request.ts";

/** Decisions that a program has not read, in bytes. A program with more gets no further ones. */
const MAX_UNREAD_BYTES = 1024 * 1024;

const requestSchema = z.object({
  toolCallId: z.string().min(1).max(1024),
  toolName: z.string().min(1).max(1024),
  input: z.unknown(),
});

interface ChannelOptions {
  request: ExecutionRequest;
  requestApproval: AdapterConfig["requestApproval"];
  emitWarning(warning: string): void;
}

/**
 * Creates the stdin of a program that can ask for approvals: the request in the first line, and then one line for each decision. A program
 * that gets no decision must not run the call.
 */
export function createDecisionChannel({ request, requestApproval, emitWarning }: ChannelOptions) {
  let stdin: Writable | null = null;
  let isFull = false;

  function answer(decision: { toolCallId: string; decision: "approve" | "reject"; reason: string | null }): void {
    if (stdin === null || !stdin.writable || isFull) return;
    isFull = stdin.writableLength > MAX_UNREAD_BYTES;
    if (isFull) emitWarning("The program does not read the decisions on stdin. It gets no further ones.");
    else stdin.write(`${stringifyWellFormed({ type: "approval.decision", ...decision })}\n`);
  }

  return {
    /** Writes the request. Stdin stays open for the decisions. */
    open(stream: Writable): void {
      stdin = stream;
      stream.write(formatProgramInput(request));
    },
    /** Decides a call that the program asks about: at once by the profile and the approvals of the task, or by a person. */
    async ask(fields: Record<string, unknown>): Promise<void> {
      const parsed = requestSchema.safeParse(fields);
      const { toolCallId } = fields;
      if (!parsed.success) {
        const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
        emitWarning(`The program printed a malformed approval.request, which was rejected: ${faults}`);
        if (typeof toolCallId === "string") answer({ toolCallId, decision: "reject", reason: `The request is malformed: ${faults}` });
        return;
      }
      const { input = null, ...call } = parsed.data;
      const decided = await decideApproval({ request, context: { requestApproval } }, { ...call, input });
      const { toolCallId: id } = call;
      answer({ toolCallId: id, decision: decided.allow ? "approve" : "reject", reason: decided.allow ? null : decided.reason });
    },
    /** Ends stdin, so that a program that waits for a line ends. */
    close: (): void => void stdin?.end(),
  };
}
