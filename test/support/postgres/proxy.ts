import { once } from "node:events";
import { createServer, connect as openSocket, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { createMessageReader, isCommitReply, isCommitRequest, type Message } from "./message-reader.ts";

type Direction = "toServer" | "toClient";

/** A TCP proxy between Bridge and PostgreSQL that can fail like a network. Its methods change all connections, open and new ones. */
export interface TcpProxy {
  readonly port: number;
  /** Connections that clients have opened. */
  readonly connections: number;
  /** Connections that were cut at a commit. */
  readonly cutCommits: number;
  /** Ends all faults, and forwards the packets that were stalled. */
  pass(): void;
  /** Forwards nothing, in both directions or in one, and keeps all connections open. */
  stall(direction?: Direction): void;
  /**
   * Forwards this many more messages to the server, and then none until `pass`, as if the network failed within a packet sequence. Resolves
   * when the last of them was forwarded.
   */
  stallAfter(messages: number): Promise<void>;
  /** Forwards every packet this much later. */
  delay(ms: number): void;
  /** Cuts all connections, and new ones at once, until `pass`. */
  cut(): void;
  /** Cuts new connections at once, until `pass`. Open ones pass. */
  refuse(): void;
  /** Forwards new connections to the server at this port. */
  redirect(serverPort: number): void;
  /** Cuts all connections once. New ones pass. */
  cutOnce(): void;
  /**
   * Cuts the connection at each of the next commits: before the request reaches the server, or after the server has committed and before
   * its reply reaches the client. `decide` is called for each commit; null lets it pass.
   */
  cutCommitsWhile(decide: () => "request" | "reply" | null): void;
}

/** Starts a proxy to a server on this machine. It stops at the end of the test. */
export async function startProxy(serverPort: number): Promise<TcpProxy> {
  const proxy = await openProxy(serverPort);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Starts a proxy to a server on this machine, for programs that are not tests. */
export async function openProxy(serverPort: number): Promise<TcpProxy & { close(): Promise<void> }> {
  const state = createState();
  const links = new Set<Link>();
  let connections = 0;
  let upstreamPort = serverPort;
  const server = createServer((client) => {
    connections += 1;
    if (state.isCut) return void client.destroy();
    const link = createLink(client, openSocket(upstreamPort, "127.0.0.1"), state);
    links.add(link);
    client.on("close", () => links.delete(link));
  });
  await listen(server);
  const change = (changes: Partial<State>): void => {
    Object.assign(state, changes);
    for (const link of links) link.flush();
  };
  const cutOnce = (): void => {
    for (const link of links) link.cut();
  };
  return {
    port: portOf(server),
    get connections() {
      return connections;
    },
    get cutCommits() {
      return state.cutCommits;
    },
    pass: () => change({ isCut: false, stalled: new Set(), messagesUntilStall: Number.POSITIVE_INFINITY, delayMs: 0, decide: () => null }),
    stall: (direction) => change({ stalled: new Set(direction === undefined ? ["toServer", "toClient"] : [direction]) }),
    stallAfter: (messages) => new Promise((onStalled) => change({ messagesUntilStall: messages, onStalled })),
    delay: (delayMs) => change({ delayMs }),
    cutCommitsWhile: (decide) => change({ decide }),
    cutOnce,
    redirect(to) {
      upstreamPort = to;
    },
    refuse: () => change({ isCut: true }),
    cut() {
      change({ isCut: true });
      cutOnce();
    },
    async close() {
      cutOnce();
      server.close();
      await once(server, "close");
    },
  };
}

interface State {
  isCut: boolean;
  stalled: ReadonlySet<Direction>;
  /** Messages to the server before it gets no more. */
  messagesUntilStall: number;
  onStalled(): void;
  delayMs: number;
  decide: () => "request" | "reply" | null;
  cutCommits: number;
}

const createState = (): State => ({
  isCut: false,
  stalled: new Set(),
  messagesUntilStall: Number.POSITIVE_INFINITY,
  onStalled() {},
  delayMs: 0,
  decide: () => null,
  cutCommits: 0,
});

/** One connection of a client, and its connection to the server. */
interface Link {
  cut(): void;
  /** Forwards the packets that were stalled, unless their direction is still stalled. */
  flush(): void;
}

function createLink(client: Socket, upstream: Socket, state: State): Link {
  /** Whether the connection is to be cut at the reply to the current commit. */
  let isReplyCut = false;
  const cut = (): void => {
    client.destroy();
    upstream.destroy();
  };
  const cutAtCommit = (): false => {
    state.cutCommits += 1;
    cut();
    return false;
  };
  const toServer = createPipe(upstream, state, "toServer", (message) => {
    if (!isCommitRequest(message)) return true;
    const decision = state.decide();
    isReplyCut = decision === "reply";
    return decision === "request" ? cutAtCommit() : true;
  });
  const toClient = createPipe(client, state, "toClient", (message) => (isReplyCut && isCommitReply(message) ? cutAtCommit() : true));
  for (const [socket, pipe] of [
    [client, toServer],
    [upstream, toClient],
  ] as const) {
    socket.on("data", pipe.receive).on("error", cut).on("close", cut);
    socket.setNoDelay(true);
  }
  return {
    cut,
    flush() {
      toServer.flush();
      toClient.flush();
    },
  };
}

/** Forwards messages to one side. `admit` returns false if it has cut the connection instead. */
function createPipe(target: Socket, state: State, direction: Direction, admit: (message: Message) => boolean) {
  const read = createMessageReader({ isClient: direction === "toServer" });
  const held: Message[] = [];
  let delayed = 0;
  let lastDelayed: Promise<unknown> = Promise.resolve();
  const deliver = (messages: readonly Message[]): void => {
    held.push(...messages);
    flush();
  };
  const flush = (): void => {
    if (state.stalled.has(direction)) return;
    const messages = direction === "toServer" ? held.splice(0, state.messagesUntilStall) : held.splice(0);
    if (direction === "toServer") state.messagesUntilStall -= messages.length;
    for (const message of messages) {
      if (target.destroyed || !admit(message)) return;
      target.write(message.bytes);
    }
    if (state.messagesUntilStall === 0) state.onStalled();
  };
  return {
    flush,
    receive(chunk: Buffer): void {
      const messages = read(chunk);
      if (state.delayMs === 0 && delayed === 0) {
        deliver(messages);
        return;
      }
      delayed += 1;
      // Packets stay in order when the delay becomes shorter.
      lastDelayed = Promise.all([lastDelayed, delay(state.delayMs)]).then(() => {
        delayed -= 1;
        deliver(messages);
      });
    },
  };
}

async function listen(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
  return address.port;
}
