import { type BridgeRequest, type ConnectionOptions, connect } from "./connection.ts";
import type { BridgeEvent, EventFilter, EventOptions } from "./events.ts";
import { followEvents } from "./follow-events.ts";
import type { PatienceOptions } from "./patience.ts";
import { readBytes } from "./read-bytes.ts";
import { readJson } from "./read-json.ts";
import { keepTrying } from "./try-again.ts";
import type {
  AcceptedTask,
  Adapter,
  Approval,
  ApprovalState,
  DispatchRequest,
  FileCondition,
  ListedTask,
  Scope,
  ServiceInfo,
  Task,
  TaskFile,
  TaskFilter,
  TaskState,
  Ticket,
  Workspace,
} from "./wire.ts";

interface Page<T> {
  data: T[];
  meta: { nextCursor: string | null; truncated?: boolean };
}

/** Where Bridge is, and how patient the client is with it. */
export type BridgeClientOptions = {
  /** Bridge's address, with the path of a proxy in front of it, if there is one. */
  url: string | URL;
  /** Default: the `fetch` of the platform. */
  fetch?: typeof fetch | undefined;
  /** How long failures in a row are met with further tries before they are thrown; a restart of Bridge fits in. Default: 120,000. */
  patienceMs?: number | undefined;
  /** The first pause between two tries; each further one is twice as long, up to 20 times the first. Default: 500. */
  retryDelayMs?: number | undefined;
  /** A connection that says nothing for so long is given up; Bridge sends a heartbeat every 15 s. Default: 31,000. */
  silenceMs?: number | undefined;
} & (
  | { token: string; getToken?: undefined }
  /** Asked before every request: for tokens that change. */
  | { getToken: () => string | Promise<string>; token?: undefined }
);

/** What every call takes. */
export interface CallOptions {
  /** Stops waiting and trying; the call rejects with the signal's reason. A task that was dispatched goes on: `cancel` ends it. */
  signal?: AbortSignal | undefined;
}

/** The calls of Bridge's API. A refusal is thrown as a `BridgeClientError`. */
export interface BridgeClient {
  /** Hands in a task. Tried again when it is not known whether it arrived: its id keeps it from running twice. `replayed`: Bridge knew it before. */
  dispatch(request: DispatchRequest, options?: CallOptions): Promise<AcceptedTask & { replayed: boolean }>;
  /** Hands in a task and waits for its end. A task that fails is no error of the call: see `state` and `result`. */
  run(request: DispatchRequest, options?: CallOptions): Promise<Task>;
  /** `waitSeconds`: waits for the end of the task for so long, at most 60, and then resolves with the task as it stands. */
  getTask(taskId: string, options?: CallOptions & { waitSeconds?: number | undefined }): Promise<Task>;
  /**
   * Deletes a task that has ended, with its child tasks and all that is stored of them. Rejects with `invalid_state` while it runs or its callback is
   * being delivered. Not sent twice: `unreachable` means that it is not known whether the task was deleted.
   */
  deleteTask(taskId: string, options?: CallOptions): Promise<void>;
  /** Resolves when the task has ended, over restarts of Bridge too. */
  waitForTask(taskId: string, options?: CallOptions): Promise<Task>;
  /** All that fit, newest first; pages are fetched as they are needed. */
  listTasks(filter?: TaskFilter, options?: CallOptions): AsyncGenerator<ListedTask, void>;
  /** Ends a task and its child tasks; changes nothing when it has ended before. */
  cancel(taskId: string, options?: CallOptions): Promise<{ taskId: string; state: TaskState }>;
  /**
   * Events as they happen, over disconnects and restarts of Bridge, none lost and none twice. Of a task (by id): its whole story, which
   * ends with its last event. Of a filter: from now on, until the signal aborts.
   */
  events(source?: string | EventFilter, options?: EventOptions): AsyncGenerator<BridgeEvent, void>;
  /** Mints a ticket for a browser, valid once within 60 s. Each of `scopes` must be a scope of the token; default: all of them. */
  createTicket(request?: { scopes?: readonly Scope[] | undefined }, options?: CallOptions): Promise<Ticket>;
  listAdapters(options?: CallOptions): AsyncGenerator<Adapter, void>;
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
  /** What a task left in its workspace. */
  readonly files: {
    /** All of them, by path. `truncated`: something could not be looked at, a directory without end for example. */
    list(taskId: string, options?: CallOptions): Promise<{ files: TaskFile[]; truncated: boolean }>;
    /** Resolves with the answer to be read: `text()`, `arrayBuffer()`, `body`. */
    download(taskId: string, path: string, options?: CallOptions): Promise<Response>;
  };
  readonly approvals: {
    /** Newest first. */
    list(filter?: { state?: ApprovalState | undefined }, options?: CallOptions): AsyncGenerator<Approval, void>;
    /** Answers a tool call that waits. Decided before: `already_decided`. */
    decide(approvalId: string, decision: "approve" | "reject", reason?: string, options?: CallOptions): Promise<Approval>;
  };
}

/** Creates a client; nothing is sent before the first call. */
export function createBridgeClient(options: BridgeClientOptions): BridgeClient {
  const { url, token, getToken, patienceMs = 120_000, retryDelayMs = 500, silenceMs = 31_000 } = options;
  const settings: ConnectionOptions & PatienceOptions = {
    baseUrl: readBaseUrl(url),
    getToken: getToken ?? (() => token),
    // Browsers refuse a `fetch` that is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    silenceMs,
    retryDelayMs,
    patienceMs,
  };

  function send<T>(
    path: string,
    { isRepeatable = true, ...details }: Omit<BridgeRequest, "path"> & { isRepeatable?: boolean },
    read: (value: unknown, headers: Headers) => T = (value) => value as T,
  ): Promise<T> {
    const act = async (): Promise<T> => {
      const connection = await connect(settings, { path, ...details });
      return read(await readJson(connection), connection.response.headers);
    };
    return keepTrying(act, { ...settings, isRepeatable, signal: details.signal });
  }

  /** A request whose answer has no body. */
  function sendForStatus(request: BridgeRequest, isRepeatable: boolean): Promise<Response> {
    const act = async (): Promise<Response> => {
      const { response, close } = await connect(settings, request);
      close();
      return response;
    };
    return keepTrying(act, { ...settings, isRepeatable, signal: request.signal });
  }

  async function* pages<T>(path: string, filter: object, { signal }: CallOptions): AsyncGenerator<Page<T>, void> {
    const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== undefined));
    for (;;) {
      const page = await send<Page<T>>(`${path}?${query}`, { signal });
      yield page;
      if (page.meta.nextCursor === null) return;
      query.set("cursor", page.meta.nextCursor);
    }
  }

  async function* list<T>(path: string, filter: object, options: CallOptions): AsyncGenerator<T, void> {
    for await (const { data } of pages<T>(path, filter, options)) yield* data;
  }

  const client: BridgeClient = {
    dispatch: (task, { signal } = {}) =>
      send("/api/v2/dispatch", { method: "POST", body: { ...task, taskId: task.taskId ?? makeTaskId() }, signal }, (accepted, headers) => ({
        ...(accepted as AcceptedTask),
        replayed: headers.get("idempotent-replayed") === "true",
      })),

    async run(task, options) {
      const { taskId } = await client.dispatch(task, options);
      return client.waitForTask(taskId, options);
    },

    getTask: (taskId, { waitSeconds = 0, signal } = {}) =>
      waitSeconds <= 0
        ? send(pathOf(taskId), { signal })
        : send(pathOf(taskId), { headers: { prefer: `wait=${Math.ceil(waitSeconds)}` }, waitMs: waitSeconds * 1000, signal }),

    async deleteTask(taskId, { signal } = {}) {
      await sendForStatus({ path: pathOf(taskId), method: "DELETE", signal }, false);
    },

    async waitForTask(taskId, { signal } = {}) {
      const task = await client.getTask(taskId, { signal });
      if (isFinal(task.state)) return task;
      // The end is asked for, whatever became of the story.
      for await (const _ of client.events(taskId, { signal, onGap: () => {} }));
      return client.getTask(taskId, { signal });
    },

    listTasks: (filter = {}, options = {}) => list("/api/v2/tasks", filter, options),
    cancel: (taskId, { signal } = {}) => send(`${pathOf(taskId)}/cancel`, { method: "POST", signal }),
    events: (source = {}, options = {}) => followEvents(source, options, settings),
    createTicket: ({ scopes } = {}, { signal } = {}) => send("/api/v2/events/ticket", { method: "POST", body: { scopes }, signal }),
    listAdapters: (options = {}) => list("/api/v2/adapters", {}, options),

    getServiceInfo: ({ signal } = {}) => send("/", { headers: { accept: "application/json" }, signal }),

    workspaces: {
      list: (options = {}) => list("/api/v2/workspaces", {}, options),
      async putFile(agentId, path, content, { ifMatch, mustBeNew = false, signal } = {}) {
        const headers = { ...(ifMatch !== undefined && { "if-match": ifMatch }), ...(mustBeNew && { "if-none-match": "*" }) };
        const isRepeatable = ifMatch === undefined && !mustBeNew;
        const response = await sendForStatus({ path: filePath(agentId, path), method: "PUT", headers, content, signal }, isRepeatable);
        return { isNew: response.status === 201, etag: response.headers.get("etag") ?? "" };
      },
      async deleteFile(agentId, path, { ifMatch, signal } = {}) {
        const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
        await sendForStatus({ path: filePath(agentId, path), method: "DELETE", headers, signal }, false);
      },
    },

    files: {
      async list(taskId, options = {}) {
        const files: TaskFile[] = [];
        let truncated = false;
        for await (const { data, meta } of pages<TaskFile>(`${pathOf(taskId)}/files`, {}, options)) {
          files.push(...data);
          truncated ||= meta.truncated === true;
        }
        return { files, truncated };
      },
      async download(taskId, path, { signal } = {}) {
        const request = { path: `${pathOf(taskId)}/files/${encodePath(path)}`, signal };
        return readBytes(await keepTrying(() => connect(settings, request), { ...settings, isRepeatable: true, signal }));
      },
    },

    approvals: {
      list: (filter = {}, options = {}) => list("/api/v2/approvals", filter, options),
      decide: (approvalId, decision, reason, { signal } = {}) =>
        send(`/api/v2/approvals/${encodeURIComponent(approvalId)}`, {
          method: "POST",
          body: { decision, reason },
          signal,
          // A second try would find it decided, by whoever it was.
          isRepeatable: false,
        }),
    },
  };
  return client;
}

function readBaseUrl(address: string | URL): string {
  const { href, protocol, username, password, search, hash } = new URL(address);
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== "")
    throw new TypeError("url must be an address of http or https without credentials, query and fragment.");
  return href.replace(/\/*$/, "/");
}

const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
const filePath = (agentId: string, path: string): string => `/api/v2/workspaces/${encodeURIComponent(agentId)}/files/${encodePath(path)}`;
const pathOf = (taskId: string): string => `/api/v2/tasks/${encodeURIComponent(taskId)}`;
const isFinal = (state: TaskState): boolean => state !== "queued" && state !== "running";

/** `crypto.randomUUID` is missing on pages that did not come by https. */
const makeTaskId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
