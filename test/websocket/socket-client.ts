import { once } from "node:events";
import { type ClientOptions, type RawData, WebSocket } from "ws";

/** One received response. */
export interface SocketAnswer {
  requestId: string;
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of a payload is what it asserts.
  payload: any;
}

/** A client of the bridge protocol. */
export interface SocketClient {
  socket: WebSocket;
  /** All responses in their order of arrival. */
  answers: SocketAnswer[];
  /** Sends a raw frame; resolves with the next response. */
  frame(data: string | Buffer): Promise<SocketAnswer>;
  /** Requests an op; resolves with its response. */
  ask(op: string, payload?: unknown, rest?: Record<string, unknown>): Promise<SocketAnswer>;
  /** Resolves with the responses when this number has arrived. */
  received(count: number): Promise<SocketAnswer[]>;
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

let requests = 0;

/** Connects; rejects if the upgrade is rejected. */
export async function openSocket(url: string, options: ClientOptions = {}): Promise<SocketClient> {
  const socket = new WebSocket(url.replace("http", "ws"), options);
  const answers: SocketAnswer[] = [];
  const waiters = new Set<() => void>();
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => {
      resolve({ code, reason: reason.toString() });
      for (const wake of waiters) wake();
    }),
  );
  socket.on("message", (data: RawData) => {
    answers.push(JSON.parse(data.toString()) as SocketAnswer);
    for (const wake of waiters) wake();
  });
  await once(socket, "open");
  // `closed` reports a broken connection.
  socket.on("error", () => {});

  async function until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (socket.readyState !== WebSocket.OPEN) throw new Error(`The socket is closed; ${answers.length} answers came.`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          waiters.delete(wake);
          resolve();
        };
        waiters.add(wake);
      });
    }
  }

  return {
    socket,
    answers,
    closed,
    async frame(data) {
      const next = answers.length;
      socket.send(data);
      return until(() => answers[next]);
    },
    async ask(op, payload = {}, rest = {}) {
      requests += 1;
      const requestId = `test-${requests}`;
      socket.send(JSON.stringify({ requestId, op, payload, ...rest }));
      return until(() => answers.find((answer) => answer.requestId === requestId));
    },
    received: (count) => until(() => (answers.length >= count ? answers : undefined)),
    async close() {
      socket.close();
      await closed;
    },
  };
}

/** Returns the response to a rejected upgrade. */
export async function openRefused(url: string, options: ClientOptions = {}): Promise<{ status: number; headers: Headers; text: string }> {
  const socket = new WebSocket(url.replace("http", "ws"), options);
  socket.on("error", () => {});
  const [, response] = await once(socket, "unexpected-response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const headers = new Headers(Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]));
  return { status: response.statusCode, headers, text: Buffer.concat(chunks).toString() };
}
