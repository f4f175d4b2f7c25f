import { BridgeError } from "../../errors.ts";
import type { AdapterRegistry } from "../../registry/adapter-registry.ts";
import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import type { Task } from "../../task.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import type { Candidate } from "../admission/list-candidates.ts";
import { validateAtStart, workspaceOfPaths } from "../admission/validate-dispatch.ts";
import type { CandidateObstacle } from "./attempts.ts";

/** The parts that decide whether a candidate can run a task. */
export interface ObstacleOptions {
  adapters: Pick<AvailableAdapters, "findOnline" | "describeOffline">;
  registry: Pick<AdapterRegistry, "cooldowns">;
  workspaces: Pick<Workspaces, "workspaceOf">;
  mcpCommands: readonly string[];
}

/** A task, or a dispatch that would become one. */
export type CandidateTask = Pick<Task, "tenant" | "agentId" | "provider" | "request">;

export type FindObstacle = ReturnType<typeof createFindObstacle>;

/** Creates the function that finds out why a candidate cannot run a task on this node now; null if it can. */
export function createFindObstacle({ adapters, registry, workspaces, mcpCommands }: ObstacleOptions) {
  function findFault(task: CandidateTask, provider: string): string | null {
    const adapter = adapters.findOnline(provider);
    if (adapter === null) return adapters.describeOffline(provider);
    try {
      validateAtStart(task.request, { adapter, provider, mcpCommands, workspace: workspaceOfPaths(task, workspaces) });
      return null;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return [error.message, ...error.errors.map((fault) => `${fault.path} ${fault.message}.`)].join(" ");
    }
  }

  return (task: CandidateTask, { provider }: Candidate): CandidateObstacle | null => {
    if (task.request.resumeToken !== undefined && provider !== task.provider)
      return { isCoolingDown: false, text: `The session of the resume token belongs to ${task.provider}.` };
    const fault = findFault(task, provider);
    if (fault !== null) return { isCoolingDown: false, text: fault };
    const cooldown = registry.cooldowns.find(provider);
    if (cooldown === null) return null;
    return { isCoolingDown: true, text: `${provider} cools down until ${new Date(cooldown.until).toISOString()}. ${cooldown.reason}` };
  };
}
