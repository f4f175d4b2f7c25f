import { type Connection, type ExecutionAdapter, isInputChecker, type Profile, type RolePlan } from "#contract";
import { BridgeError } from "../errors.ts";
import type { AdapterRegistry } from "../registry/adapter-registry.ts";
import type { ParseDispatch } from "../requests/parse-dispatch.ts";
import type { TaskRepository, TaskRequest, TraceContext } from "../task.ts";
import { type AgentFile, readAgentFile } from "../workspaces/prompt-files.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import { listCandidates } from "./admission/list-candidates.ts";
import { resolveModel, resolveTimeoutSeconds } from "./admission/resolve-defaults.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { type DispatchSender, withSentFieldName } from "./receive-dispatch.ts";
import type { CandidateTask, FindObstacle } from "./run/find-obstacle.ts";

/** What would become of a dispatch that Bridge accepts. */
export interface DispatchPreview {
  provider: string;
  agentId: string;
  /** Whether the dispatch repeats an earlier one, and starts nothing. */
  replayed: boolean;
  /** The connection that the last health check of the adapter found on this node. */
  connection: Connection | null;
  /** Queued tasks of the adapter, of all tenants. */
  queueAhead: number;
  /** The settings with which the task would run. `model` is null for the default of the runtime. */
  resolved: { model: string | null; profile: Profile; approvals: TaskRequest["approvals"]; timeoutSeconds: number };
  /** Who would answer; null if that is one agent, and if the agent lives on another node. */
  council: RolePlan | null;
  /** The repository of which the task would get a work tree; null if it would get none. */
  repository: TaskRepository | null;
  /** Where the task could run, in the order in which they are tried. Empty if the dispatch has no fallbacks. */
  candidates: readonly { provider: string; model: string | null; canRun: boolean; reason: string | null }[];
  /** What an operator should know, although the dispatch would be accepted. */
  warnings: readonly string[];
}

/** Parses and checks the body of a dispatch as `ReceiveDispatch` does, and stores nothing. Throws the same BridgeErrors. */
export type PreviewDispatch = (body: unknown, sender: Omit<DispatchSender, keyof TraceContext>) => Promise<DispatchPreview>;

interface PreviewOptions {
  dispatcher: Pick<Dispatcher, "checkTask" | "findObstacle" | "load">;
  registry: Pick<AdapterRegistry, "get">;
  workspaces: Pick<Workspaces, "workspaceOf">;
  parseDispatch: ParseDispatch;
  defaultProfile: Profile;
}

/** Creates the function that previews dispatches. */
export function createPreviewDispatch({
  dispatcher,
  registry,
  workspaces,
  parseDispatch,
  defaultProfile,
}: PreviewOptions): PreviewDispatch {
  return async (body, { tenant, tokenName, idempotencyKey }) => {
    try {
      const dispatch = parseDispatch(body, { defaultProfile, idempotencyKey });
      const { agentId, request } = dispatch;
      const sent = { tenant, tokenName };
      const { provider, runner, replayed, request: accepted } = await dispatcher.checkTask(dispatch, sent);
      const { health, adapter = null } = registry.get(provider) ?? {};
      const isElsewhere = runner?.isHere === false;
      const workspace = isElsewhere ? null : workspaces.workspaceOf(tenant, agentId);
      const { agent, fault } = workspace === null ? { agent: {}, fault: null } : tryReadAgentFile(workspace);
      const model = resolveModel(request, agent);
      // Another node has the settings of the agent and its own runtimes.
      const plan = isInputChecker(adapter) && !isElsewhere ? await adapter.planRoles?.({ ...request, model }, workspace) : null;
      return {
        ...{ provider, agentId, replayed, connection: health?.connection ?? null },
        queueAhead: replayed ? 0 : dispatcher.load(provider).queued,
        resolved: {
          model: model ?? null,
          ...{ profile: resolveProfile(request, adapter), approvals: request.approvals },
          timeoutSeconds: resolveTimeoutSeconds(request, agent),
        },
        council: plan ?? null,
        repository: accepted.repository ?? null,
        candidates: replayed ? [] : listPreviewed({ tenant, agentId, provider, request: accepted }, dispatcher.findObstacle),
        warnings: [
          ...(health?.status === "degraded"
            ? [`The adapter ${provider} is degraded: ${health.detail ?? "its health check found a fault"}`]
            : []),
          ...(runner?.isAlive === false ? ["The agent lives on a node that is not running. The task waits until that node returns."] : []),
          ...(fault === null ? [] : [`The task would fail: ${fault}`]),
        ],
      };
    } catch (error) {
      throw error instanceof BridgeError ? withSentFieldName(error, body) : error;
    }
  };
}

/** Lists the candidates of a dispatch with fallbacks, and what is in their way. */
function listPreviewed(task: CandidateTask, findObstacle: FindObstacle): DispatchPreview["candidates"] {
  const { fallbacks, skipped = [] } = task.request;
  if (fallbacks === undefined) return [];
  return [
    ...skipped.map((candidate) => ({ ...candidate, canRun: false })),
    ...listCandidates(task.provider, task.request).map((candidate) => {
      const obstacle = findObstacle(task, candidate);
      return { ...candidate, canRun: obstacle === null, reason: obstacle?.text ?? null };
    }),
  ];
}

/** Returns the profile with which the task would run. An adapter can narrow that of the dispatch. */
const resolveProfile = (request: TaskRequest, adapter: ExecutionAdapter | null): Profile =>
  (isInputChecker(adapter) ? adapter.resolveProfile?.(request) : undefined) ?? request.profile;

function tryReadAgentFile(workspace: string): { agent: AgentFile; fault: string | null } {
  try {
    return { agent: readAgentFile(workspace), fault: null };
  } catch (error) {
    return { agent: {}, fault: (error as Error).message };
  }
}
