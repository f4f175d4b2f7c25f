import { sleep } from "@hak2i/async-kit";
import type { Connection, ConnectionOptions } from "../engines/postgres/connection.ts";
import type { TaskStore } from "../tasks/interface.ts";
import type { Hint } from "./interface.ts";

/** The channel of all hints of a database. */
export const CHANNEL = "bridge";

/** A connection that no longer answers may receive no notifications, without an error. */
const CHECK_MS = 10_000;

const ANSWER_MS = 5_000;

const RECONNECT_MS = 1_000;

/** Each notification costs the server a transaction for every node, so hints of this time share one statement. */
const SEND_MS = 10;

/** The hints of a node. */
export interface Hints {
  /** Whether hints of other nodes arrive. */
  readonly isUp: boolean;
  /** Sends the hint to the other nodes; never waits and never throws. */
  send(hint: Hint): void;
  close(): Promise<void>;
}

/** Options of hints. */
export interface HintsOptions {
  connect(options: Pick<ConnectionOptions, "answerMs" | "onNotification" | "onLost">): Promise<Connection>;
  /** Called with each hint of another node, which can be of a newer version and unknown. */
  onHint(hint: Hint): void;
  /** Called when hints arrive again: earlier ones are lost. */
  onUp(): void;
  /** Milliseconds between two checks of the connection; for tests. */
  checkMs?: number;
}

/**
 * Listens to the hints of other nodes on a separate connection, and sends hints on it. A hint is sent after the commit that it reports,
 * because a NOTIFY inside a transaction makes all commits of the server with a NOTIFY wait for each other's disk writes.
 */
export function createHints({ connect, onHint, onUp, checkMs = CHECK_MS }: HintsOptions): Hints {
  const ended = new AbortController();
  let connection: Connection | null = null;
  let waiting = new Set<Hint>();
  let isSending = false;

  async function listen(): Promise<void> {
    while (!ended.signal.aborted) {
      const lost = new AbortController();
      await listenOnce(lost).catch(() => {});
      connection?.close();
      connection = null;
      await sleep(RECONNECT_MS, ended.signal).catch(() => {});
    }
  }

  /** Returns or throws when the connection does not listen any more. */
  async function listenOnce(lost: AbortController): Promise<void> {
    /** The server process of this session, whose own hints come back. */
    let ownProcess: unknown;
    const opened = await connect({
      answerMs: ANSWER_MS,
      onLost: () => lost.abort(),
      onNotification: ({ processId, payload }) => {
        if (processId !== ownProcess) onHint(payload as Hint);
      },
    });
    const end = (): void => opened.close();
    ended.signal.addEventListener("abort", end, { once: true });
    try {
      if (ended.signal.aborted) return end();
      const { rows } = await opened.query("SELECT pg_backend_pid() AS process");
      ownProcess = rows[0]?.["process"];
      await opened.query(`LISTEN ${CHANNEL}`);
      connection = opened;
      onUp();
      while (await isListening(opened)) await sleep(checkMs, lost.signal);
    } finally {
      ended.signal.removeEventListener("abort", end);
      end();
    }
  }

  async function sendAll(): Promise<void> {
    isSending = true;
    while (waiting.size > 0 && connection !== null) {
      const hints = [...waiting];
      waiting = new Set();
      const sent = connection.query(notify, [hints]).catch(() => {});
      await Promise.all([sent, sleep(SEND_MS, ended.signal).catch(() => {})]);
    }
    waiting = new Set();
    isSending = false;
  }

  const listening = listen();
  return {
    get isUp() {
      return connection !== null && !connection.isLost;
    },
    send(hint) {
      waiting.add(hint);
      if (!isSending) void sendAll();
    },
    async close() {
      ended.abort();
      await listening;
    },
  };
}

const notify = { name: "notify", text: `SELECT pg_notify('${CHANNEL}', hint) FROM unnest($1::text[]) AS hint` };

const selectChannels = { name: "select_channels", text: `SELECT 1 FROM pg_listening_channels() AS channel WHERE channel = '${CHANNEL}'` };

/** A pooler between Bridge and PostgreSQL may have moved the connection to another session, which does not listen. */
const isListening = async (connection: Connection): Promise<boolean> => (await connection.query(selectChannels)).rows.length > 0;

type Hinted = Pick<TaskStore, "insertTaskIfAbsent" | "requeueTaskIfRunning" | "requestStopIfRunning">;

/** Reports to the other nodes what these writes leave for them to do: a task to start, or a task to stop. */
export function hintWrites(writes: Hinted, send: (hint: Hint) => void): Hinted {
  return {
    async insertTaskIfAbsent(task, options) {
      const result = await writes.insertTaskIfAbsent(task, options);
      if (result.inserted && result.task.state === "queued") send(`queue:${task.provider}`);
      return result;
    },
    async requeueTaskIfRunning(task) {
      const isQueued = await writes.requeueTaskIfRunning(task);
      if (isQueued) send(`queue:${task.provider}`);
      return isQueued;
    },
    async requestStopIfRunning(task, stop) {
      const isRunning = await writes.requestStopIfRunning(task, stop);
      if (isRunning) send("stops");
      return isRunning;
    },
  };
}
