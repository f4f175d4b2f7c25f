import { z } from "zod";
import type { ApprovalQuestion } from "#contract";
import type { Step } from "../shared/agent-program/run-program.ts";
import { STRUCTURED_OUTPUT_TOOL } from "./permissions.ts";
import { readToolCall, type ToolPart } from "./tool-calls.ts";

/** A permission request, usually of a tool call. */
export const permissionSchema = z.object({
  id: z.string(),
  permission: z.string(),
  metadata: z.record(z.string(), z.unknown()).default({}),
  tool: z.object({ callID: z.string() }).optional(),
});
type PermissionRequest = z.infer<typeof permissionSchema> & InSession;

interface InSession {
  sessionID: string;
}

/**
 * A step of the task. `asked` is a permission request that waits for a reply. `isReported` is true if the request belongs to a tool call:
 * only then OpenCode reports the end of `call`.
 */
export type ServerStep =
  | Step
  | {
      kind: "asked";
      sessionId: string;
      permissionId: string;
      permission: string;
      call: Omit<ApprovalQuestion, "taskId">;
      isReported: boolean;
    };

/** Creates the reader for the tool calls of a task and of its sub-agents, which have other sessions than `sessionId`. */
export function createCallReader(sessionId: string) {
  /** Running calls. */
  const calls = new Map<string, Pick<ApprovalQuestion, "toolName" | "input"> | "pending">();
  /** Ids of calls with a permission request. */
  const askedIds = new Set<string>();
  /** Permission requests that arrived before the input of their call. */
  const earlyRequests = new Map<string, PermissionRequest>();

  function readPermission(request: PermissionRequest): ServerStep[] {
    const { id, sessionID, permission, metadata, tool } = request;
    const toolCallId = tool?.callID ?? id;
    const known = calls.get(toolCallId) ?? { toolName: permission, input: metadata };
    askedIds.add(toolCallId);
    if (known === "pending") {
      earlyRequests.set(toolCallId, request);
      return [];
    }
    const call = { toolCallId, ...known };
    return [
      { kind: "tool.invoked", ...call },
      { kind: "asked", sessionId: sessionID, permissionId: id, permission, call, isReported: tool !== undefined },
    ];
  }

  return {
    /** Reads a permission request. A request for a call without input waits until `readCall` reads the input. */
    readPermission,
    /** Reads the current state of a call. */
    readCall(part: ToolPart & InSession): ServerStep[] {
      const { callID, tool, state } = part;
      // Structured output is not reported as a tool call.
      if (tool === STRUCTURED_OUTPUT_TOOL) return [];
      if (state.status === "running") calls.set(callID, { toolName: tool, input: state.input });
      else if (state.status === "pending") calls.set(callID, "pending");
      else calls.delete(callID);
      const request = earlyRequests.get(callID);
      if (request !== undefined && state.status === "running") {
        earlyRequests.delete(callID);
        return readPermission(request);
      }
      // Calls of sub-agents are reported only if they need permission.
      return part.sessionID === sessionId || askedIds.has(callID) ? readToolCall(part) : [];
    },
  };
}
