import { type ClientSettings, resolveSettings, type TokenSource } from "./client-settings.ts";
import type { BridgeEvent, EventFilter, EventOptions } from "./events.ts";
import { followEvents } from "./follow-events.ts";
import { createRandomId } from "./random-id.ts";
import { createRequestSender, toQuery } from "./request-sender.ts";
import type {
  AcceptedTask,
  Adapter,
  Approval,
  ApprovalState,
  Attention,
  Budget,
  Callback,
  CallbackDetails,
  CallbackState,
  DispatchCheck,
  DispatchRequest,
  Domain,
  FaultChoice,
  FileCondition,
  Identity,
  ListedTask,
  Repository,
  Scope,
  ServiceInfo,
  Session,
  SignInLink,
  Stats,
  StatsQuery,
  Task,
  TaskAgent,
  TaskDiff,
  TaskFile,
  TaskFilter,
  TaskRequest,
  TaskState,
  Ticket,
  Webhook,
  WebhookDelivery,
  Workspace,
} from "./wire.ts";

/** Address, credentials and time limits of the client. */
export type BridgeClientOptions = ClientSettings & TokenSource;

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. A dispatched task continues; use `cancel` to end it. */
  signal?: AbortSignal | undefined;
}

/** Options of a decision. */
export interface DecisionOptions extends CallOptions {
  /** US dollars by which the maximum of a budget grows. */
  raiseByUsd?: number | undefined;
}

/** Client of Bridge's API. Calls reject with a `BridgeClientError`. */
export interface BridgeClient {
  /** Dispatches a task. Retried safely, because Bridge runs a task id only once. `replayed`: the task existed before. */
  dispatch(request: DispatchRequest, options?: CallOptions): Promise<AcceptedTask & { replayed: boolean }>;
  /** Checks a dispatch, and returns what it would do. Stores and starts nothing. */
  checkDispatch(request: DispatchRequest, options?: CallOptions): Promise<DispatchCheck>;
  /** Dispatches a task and waits for its end. A failed task does not reject the call; check `state` and `result`. */
  run(request: DispatchRequest, options?: CallOptions): Promise<Task>;
  /** Returns a task. With `waitSeconds` (at most 60), waits that long for its end. */
  getTask(taskId: string, options?: CallOptions & { waitSeconds?: number | undefined }): Promise<Task>;
  /** Returns the request of a task, with the secrets of its MCP servers replaced by `***`. */
  getTaskRequest(taskId: string, options?: CallOptions): Promise<TaskRequest>;
  /**
   * Deletes an ended task, its child tasks and all their data. Rejects with `invalid_state` while the task runs or its callback is being
   * delivered. Not retried: after `unreachable` it is unknown whether the task was deleted.
   */
  deleteTask(taskId: string, options?: CallOptions): Promise<void>;
  /** Resolves when the task has ended, also across restarts of Bridge. */
  waitForTask(taskId: string, options?: CallOptions): Promise<Task>;
  /** Lists the matching tasks, newest first. Pages are fetched on demand. */
  listTasks(filter?: TaskFilter, options?: CallOptions): AsyncGenerator<ListedTask, void>;
  /** Cancels a task and its child tasks. Has no effect on an ended task. */
  cancel(taskId: string, options?: CallOptions): Promise<{ taskId: string; state: TaskState }>;
  /**
   * Follows events across disconnects and restarts of Bridge, without losing or repeating any. With a task id: all
   * events of the task, until its terminal event. With a filter: new events, until the signal aborts.
   */
  events(source?: string | EventFilter, options?: EventOptions): AsyncGenerator<BridgeEvent, void>;
  /** Creates a ticket for a browser, valid once within 60 s. Each of `scopes` must be a scope of the token. Default: all of them. */
  createTicket(request?: { scopes?: readonly Scope[] | undefined }, options?: CallOptions): Promise<Ticket>;
  /** Creates a link that signs a browser in to the console, valid once within 60 s. */
  createSignInLink(options?: CallOptions): Promise<SignInLink>;
  /** Opens a session with the ticket of a link. Needs no token. */
  createSession(ticket: string, options?: CallOptions): Promise<Session>;
  /** Ends the session whose token this client uses. */
  deleteSession(options?: CallOptions): Promise<void>;
  /** Returns the name, tenant, scopes and expiry of the token. */
  getIdentity(options?: CallOptions): Promise<Identity>;
  listAdapters(options?: CallOptions): AsyncGenerator<Adapter, void>;
  /** Checks the health of an adapter now. Needs the scope `manage`. */
  checkAdapter(provider: string, options?: CallOptions): Promise<Adapter>;
  /**
   * Lists the domains for which councils have an expert. With the id of a workspace, the list includes the domains that this workspace
   * defines or overrides, and `settingsFault` describes the faults of its `.bridge-settings.json`.
   */
  listDomains(workspace?: string, options?: CallOptions): Promise<{ domains: Domain[]; settingsFault: string | null }>;
  /** Lists the agents of the tenant that have tasks, sorted by name. */
  listAgents(options?: CallOptions): AsyncGenerator<TaskAgent, void>;
  /** Returns cost, tokens and numbers of the tasks that ended in a window or a range of time. */
  getStats(query?: StatsQuery, options?: CallOptions): Promise<Stats>;
  /** Returns name, version and links of this Bridge. */
  getServiceInfo(options?: CallOptions): Promise<ServiceInfo>;
  readonly workspaces: {
    /** Lists all workspaces of the tenant, sorted by name. */
    list(options?: CallOptions): AsyncGenerator<Workspace, void>;
    /** Creates or replaces a file; resolves with its ETag. A conditional write is not retried. */
    putFile(
      agentId: string,
      path: string,
      content: string | Uint8Array<ArrayBuffer>,
      options?: CallOptions & FileCondition,
    ): Promise<{ isNew: boolean; etag: string }>;
    /** Deletes one file. Not retried. */
    deleteFile(agentId: string, path: string, options?: CallOptions & Pick<FileCondition, "ifMatch">): Promise<void>;
  };
  /** Files that a task left in its workspace. */
  readonly files: {
    /** Lists the files, sorted by path. `truncated`: the list is incomplete, for example because a directory is too large. */
    list(taskId: string, options?: CallOptions): Promise<{ files: TaskFile[]; truncated: boolean }>;
    /** Resolves with a response whose body is not yet read: use `text()`, `arrayBuffer()` or `body`. */
    download(taskId: string, path: string, options?: CallOptions): Promise<Response>;
    /**
     * Compares the git work tree of a task with the commit at its start. Rejects with `invalid_state`, with the reason, if the task did not
     * start in a git work tree.
     */
    diff(taskId: string, options?: CallOptions): Promise<TaskDiff>;
    /**
     * Returns the commits of an ended task as patches for `git am`, at most 64 MiB; empty if it changed nothing. Only for a task with a
     * work tree of a repository.
     */
    patch(taskId: string, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>;
  };
  readonly repositories: {
    /** Lists the repositories of which tasks can have a work tree, with the stored branches of tasks. */
    list(options?: CallOptions): AsyncGenerator<Repository, void>;
  };
  readonly approvals: {
    /** Lists approvals, newest first unless `order` is `oldest`. */
    list(
      filter?: { state?: ApprovalState | undefined; taskId?: string | undefined; order?: "newest" | "oldest" | undefined },
      options?: CallOptions,
    ): AsyncGenerator<Approval, void>;
    /**
     * Approves or rejects a pending tool call or budget. `raiseByUsd` raises the maximum of a budget; without it, each reached maximum
     * grows by that of the dispatch. Rejects with `already_decided` if it was decided before.
     */
    decide(approvalId: string, decision: "approve" | "reject", reason?: string, options?: DecisionOptions): Promise<Approval>;
  };
  readonly attention: {
    /** Lists what needs a person; with `acknowledged`, the faults that were acknowledged and still exist instead. `limit`: of each kind. */
    list(query?: { acknowledged?: boolean | undefined; limit?: number | undefined }, options?: CallOptions): Promise<Attention>;
    /** Acknowledges faults, which are listed no longer, and resolves with their number. Rejects with `not_found` for an unknown id. */
    acknowledge(faults: FaultChoice, options?: CallOptions): Promise<number>;
  };
  readonly callbacks: {
    /** Lists callbacks, newest task first. */
    list(filter?: { state?: CallbackState | undefined }, options?: CallOptions): AsyncGenerator<Callback, void>;
    /** Returns the callback of a task with its last attempts. */
    get(taskId: string, options?: CallOptions): Promise<CallbackDetails>;
    /** Starts a new round of attempts for a dead callback. Rejects with `invalid_state` or `already_delivered` for any other. */
    redeliver(taskId: string, options?: CallOptions): Promise<Callback>;
    /**
     * Redelivers all dead callbacks to an origin (scheme, host and port). Resolves with their number. After an error, call it again: only
     * dead callbacks are redelivered.
     */
    redeliverAll(origin: string, options?: CallOptions): Promise<number>;
  };
  readonly budgets: {
    /** Lists the budgets of the tenant, in the order of the operator's file. */
    list(options?: CallOptions): AsyncGenerator<Budget, void>;
    /** Replaces what is spent in the current period. Needs the scope `manage`. */
    adjust(name: string, adjustment: { spentUsd: number; reason: string }, options?: CallOptions): Promise<Budget>;
  };
  readonly webhooks: {
    /** Lists the webhooks, sorted by name. */
    list(options?: CallOptions): AsyncGenerator<Webhook, void>;
    /** Lists the deliveries of a webhook, newest first. */
    listDeliveries(
      name: string,
      filter?: { state?: CallbackState | undefined },
      options?: CallOptions,
    ): AsyncGenerator<WebhookDelivery, void>;
    /** Starts a new round of attempts for a dead delivery. Rejects with `invalid_state` or `already_delivered` for any other. */
    redeliver(name: string, deliveryId: string, options?: CallOptions): Promise<WebhookDelivery>;
    /** Redelivers all dead deliveries of a webhook. Resolves with their number. After an error, call it again. */
    redeliverAll(name: string, options?: CallOptions): Promise<number>;
  };
}

/** The answer to one request of a redelivery. */
interface Redelivery {
  redelivered: number;
  nextCursor: string | null;
}

/** Maximum time of the check of an adapter. */
const CHECK_MS = 30_000;
/** Bridge limits a diff or a patch, including the wait for its turn, to 25 s. */
const DIFF_MS = 30_000;

/** Creates a client. Sends nothing before the first call. Throws a TypeError for an invalid URL. */
export function createBridgeClient(options: BridgeClientOptions): BridgeClient {
  const { token, getToken } = options;
  const settings = resolveSettings(options, getToken ?? (() => token));
  const { send, sendForStatus, sendForBytes, fetchPages, list } = createRequestSender(settings);

  const client: BridgeClient = {
    dispatch: (task, { signal } = {}) =>
      send(
        "/api/v2/dispatch",
        { method: "POST", body: { ...task, taskId: task.taskId ?? createRandomId() }, signal },
        (accepted, headers) => ({
          ...(accepted as AcceptedTask),
          replayed: headers.get("idempotent-replayed") === "true",
        }),
      ),

    async run(task, options) {
      const { taskId } = await client.dispatch(task, options);
      return client.waitForTask(taskId, options);
    },

    checkDispatch: (request, { signal } = {}) => send("/api/v2/dispatch/check", { method: "POST", body: request, signal }),

    getTask: (taskId, { waitSeconds = 0, signal } = {}) =>
      waitSeconds <= 0
        ? send(pathOf(taskId), { signal })
        : send(pathOf(taskId), { headers: { prefer: `wait=${Math.ceil(waitSeconds)}` }, waitMs: waitSeconds * 1000, signal }),

    getTaskRequest: (taskId, { signal } = {}) => send(`${pathOf(taskId)}/request`, { signal }),

    async deleteTask(taskId, { signal } = {}) {
      await sendForStatus({ path: pathOf(taskId), method: "DELETE", signal }, false);
    },

    async waitForTask(taskId, { signal } = {}) {
      const task = await client.getTask(taskId, { signal });
      if (isFinal(task.state)) return task;
      // A gap does not matter, because only the end of the task is of interest.
      for await (const _ of client.events(taskId, { signal, onGap: () => {} }));
      return client.getTask(taskId, { signal });
    },

    listTasks: (filter = {}, options = {}) => list("/api/v2/tasks", filter, options),
    cancel: (taskId, { signal } = {}) => send(`${pathOf(taskId)}/cancel`, { method: "POST", signal }),
    events: (source = {}, options = {}) => followEvents(source, options, settings),
    ...createAccessCalls({ send, sendForStatus }),
    ...createAdapterCalls({ send, list, fetchPages }),
    listAgents: (options = {}) => list("/api/v2/agents", {}, options),

    getStats: (query = {}, { signal } = {}) => send(`/api/v2/stats?${toQuery(query)}`, { signal }),

    getServiceInfo: ({ signal } = {}) => send("/", { headers: { accept: "application/json" }, signal }),

    workspaces: createWorkspaceCalls({ list, sendForStatus }),

    files: {
      async list(taskId, options = {}) {
        const files: TaskFile[] = [];
        let truncated = false;
        for await (const { data, meta } of fetchPages<TaskFile>(`${pathOf(taskId)}/files`, {}, options)) {
          files.push(...data);
          truncated ||= meta.truncated === true;
        }
        return { files, truncated };
      },
      async download(taskId, path, { signal } = {}) {
        return sendForBytes({ path: `${pathOf(taskId)}/files/${encodePath(path)}`, signal });
      },
      diff: (taskId, { signal } = {}) => send(`${pathOf(taskId)}/diff`, { waitMs: DIFF_MS, signal }),
      async patch(taskId, { signal } = {}) {
        const response = await sendForBytes({ path: `${pathOf(taskId)}/patch`, waitMs: DIFF_MS, signal });
        return new Uint8Array(await response.arrayBuffer());
      },
    },
    repositories: { list: (options = {}) => list("/api/v2/repositories", {}, options) },

    approvals: {
      list: (filter = {}, options = {}) => list("/api/v2/approvals", filter, options),
      decide: (approvalId, decision, reason, { signal, raiseByUsd } = {}) =>
        send(`/api/v2/approvals/${encodeURIComponent(approvalId)}`, {
          method: "POST",
          body: { decision, reason, raiseByUsd },
          signal,
          // A retry could not distinguish its own earlier decision from one of another client.
          isRepeatable: false,
        }),
    },

    attention: createAttentionCalls({ send }),
    callbacks: createCallbackCalls({ send, list }),
    budgets: createBudgetCalls({ send, list }),
    webhooks: createWebhookCalls({ send, list }),
  };
  return client;
}

type AccessCalls = Pick<BridgeClient, "createTicket" | "createSignInLink" | "createSession" | "deleteSession" | "getIdentity">;

function createAccessCalls({ send, sendForStatus }: Pick<ReturnType<typeof createRequestSender>, "send" | "sendForStatus">): AccessCalls {
  return {
    createTicket: ({ scopes } = {}, { signal } = {}) => send("/api/v2/events/ticket", { method: "POST", body: { scopes }, signal }),
    createSignInLink: ({ signal } = {}) => send("/api/v2/sessions/link", { method: "POST", signal }),
    // A ticket is valid once, so a retry would be rejected.
    createSession: (ticket, { signal } = {}) => send("/api/v2/sessions", { method: "POST", body: { ticket }, signal, isRepeatable: false }),
    async deleteSession({ signal } = {}) {
      await sendForStatus({ path: "/api/v2/sessions/current", method: "DELETE", signal }, false);
    },
    getIdentity: ({ signal } = {}) => send("/api/v2/me", { signal }),
  };
}

function createWorkspaceCalls({
  list,
  sendForStatus,
}: Pick<ReturnType<typeof createRequestSender>, "list" | "sendForStatus">): BridgeClient["workspaces"] {
  return {
    list: (options = {}) => list("/api/v2/workspaces", {}, options),
    async putFile(agentId, path, content, { ifMatch, mustBeNew = false, signal } = {}) {
      const headers = { ...(ifMatch !== undefined && { "if-match": ifMatch }), ...(mustBeNew && { "if-none-match": "*" }) };
      const isRepeatable = ifMatch === undefined && !mustBeNew;
      const response = await sendForStatus({ path: filePathOf(agentId, path), method: "PUT", headers, content, signal }, isRepeatable);
      return { isNew: response.status === 201, etag: response.headers.get("etag") ?? "" };
    },
    async deleteFile(agentId, path, { ifMatch, signal } = {}) {
      const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
      await sendForStatus({ path: filePathOf(agentId, path), method: "DELETE", headers, signal }, false);
    },
  };
}

type AdapterCalls = Pick<BridgeClient, "listAdapters" | "checkAdapter" | "listDomains">;

function createAdapterCalls({
  send,
  list,
  fetchPages,
}: Pick<ReturnType<typeof createRequestSender>, "send" | "list" | "fetchPages">): AdapterCalls {
  return {
    listAdapters: (options = {}) => list("/api/v2/adapters", {}, options),
    checkAdapter: (provider, { signal } = {}) =>
      send(`/api/v2/adapters/${encodeURIComponent(provider)}/check`, { method: "POST", waitMs: CHECK_MS, signal }),
    async listDomains(workspace, options = {}) {
      const domains: Domain[] = [];
      let settingsFault: string | null = null;
      for await (const { data, meta } of fetchPages<Domain>("/api/v2/domains", { workspace }, options)) {
        domains.push(...data);
        settingsFault = meta.settingsFault ?? null;
      }
      return { domains, settingsFault };
    },
  };
}

function createAttentionCalls({ send }: Pick<ReturnType<typeof createRequestSender>, "send">): BridgeClient["attention"] {
  return {
    list: (query = {}, { signal } = {}) => send(`/api/v2/attention?${toQuery(query)}`, { signal }),
    async acknowledge(faults, { signal } = {}) {
      let acknowledged = 0;
      for (;;) {
        const path = "/api/v2/attention/acknowledge";
        const answer = await send<{ acknowledged: number; hasMore: boolean }>(path, { method: "POST", body: faults, signal });
        acknowledged += answer.acknowledged;
        if (!answer.hasMore) return acknowledged;
      }
    },
  };
}

function createCallbackCalls({ send, list }: Pick<ReturnType<typeof createRequestSender>, "send" | "list">): BridgeClient["callbacks"] {
  return {
    list: (filter = {}, options = {}) => list("/api/v2/callbacks", filter, options),
    get: (taskId, { signal } = {}) => send(`/api/v2/callbacks/${encodeURIComponent(taskId)}`, { signal }),
    redeliver: (taskId, { signal } = {}) =>
      // A retry could not distinguish its own earlier redelivery from one of another client.
      send(`/api/v2/callbacks/${encodeURIComponent(taskId)}/redeliver`, { method: "POST", signal, isRepeatable: false }),
    redeliverAll: (origin, { signal } = {}) => redeliverAll(send, "/api/v2/callbacks/redeliver", { body: { origin }, signal }),
  };
}

function createBudgetCalls({ send, list }: Pick<ReturnType<typeof createRequestSender>, "send" | "list">): BridgeClient["budgets"] {
  return {
    list: (options = {}) => list("/api/v2/budgets", {}, options),
    adjust: (name, adjustment, { signal } = {}) =>
      send(`/api/v2/budgets/${encodeURIComponent(name)}/adjust`, { method: "POST", body: adjustment, signal }),
  };
}

function createWebhookCalls({ send, list }: Pick<ReturnType<typeof createRequestSender>, "send" | "list">): BridgeClient["webhooks"] {
  const pathTo = (name: string): string => `/api/v2/webhooks/${encodeURIComponent(name)}`;
  return {
    list: (options = {}) => list("/api/v2/webhooks", {}, options),
    listDeliveries: (name, filter = {}, options = {}) => list(`${pathTo(name)}/deliveries`, filter, options),
    redeliver: (name, deliveryId, { signal } = {}) =>
      // A retry could not distinguish its own earlier redelivery from one of another client.
      send(`${pathTo(name)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`, { method: "POST", signal, isRepeatable: false }),
    redeliverAll: (name, { signal } = {}) => redeliverAll(send, `${pathTo(name)}/redeliver`, { body: {}, signal }),
  };
}

/** Sends the requests of a redelivery of everything dead that goes to one receiver. Returns how many were redelivered. */
async function redeliverAll(
  send: ReturnType<typeof createRequestSender>["send"],
  path: string,
  { body, signal }: { body: object; signal: AbortSignal | undefined },
): Promise<number> {
  let redelivered = 0;
  let cursor: string | undefined;
  do {
    const answer = await send<Redelivery>(path, { method: "POST", body: { ...body, cursor }, signal, isRepeatable: false });
    redelivered += answer.redelivered;
    cursor = answer.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return redelivered;
}

const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
const filePathOf = (agentId: string, path: string): string => `/api/v2/workspaces/${encodeURIComponent(agentId)}/files/${encodePath(path)}`;
const pathOf = (taskId: string): string => `/api/v2/tasks/${encodeURIComponent(taskId)}`;
const isFinal = (state: TaskState): boolean => state !== "queued" && state !== "running";
