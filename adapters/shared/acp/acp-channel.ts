import type { Writable } from "node:stream";
import {
  type AnyMessage,
  type ClientContext,
  client,
  type JsonRpcId,
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { AgentExited } from "./acp-failure.ts";

/** Who hears what an agent says unasked. */
export interface AcpListener {
  /** Called in the order in which the updates came, and before any request or answer that came after them. */
  onUpdate(params: { sessionId?: unknown; update?: unknown }): void;
  /** Receives a notification that is not part of the protocol, in order with the updates. */
  onExtension(method: string, params: { sessionId?: unknown }): void;
  /** Several may wait for their answers at a time. */
  onPermission(params: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  /** A line that is no message. */
  onNoise(line: string): void;
}

/** The two pipes of an agent as a connection of the protocol; whoever reads its lines has bounded them. */
export interface AcpChannel {
  /** Begins to talk; what it is given is where the agent listens. */
  open(stdin: Writable): ClientContext;
  onLine(line: string): void;
  /** The agent has ended: whatever is unanswered rejects with `AgentExited`. */
  close(): void;
}

/** Makes a channel to an agent that is about to start. */
export function createAcpChannel({ onUpdate, onExtension, onPermission, onNoise }: AcpListener): AcpChannel {
  let incoming: ReadableStreamDefaultController<AnyMessage> | undefined;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      incoming = controller;
    },
  });
  let close = (): void => {};
  const unanswered = new Set<JsonRpcId>();

  const send = (stdin: Writable, message: AnyMessage): Promise<void> => {
    if ("method" in message && "id" in message) unanswered.add(message.id);
    return writeLine(stdin, message);
  };

  return {
    open(stdin) {
      const connection = client({ name: "bridge" })
        .onRequest(methods.client.session.requestPermission, ({ params }) => onPermission(params))
        .connect({ readable, writable: new WritableStream({ write: (message) => send(stdin, message) }) });
      close = () => connection.close(new AgentExited("The agent has ended."));
      return connection.agent;
    },
    onLine(line) {
      const message = parseMessage(line);
      if (message === null) onNoise(line);
      // Updates do not take the way of the requests, on which their order is not kept, and unknown kinds are errors.
      else if ("method" in message && message.method === methods.client.session.update) onUpdate(message.params ?? {});
      else if ("method" in message && !("id" in message) && message.method.startsWith("_"))
        onExtension(message.method, message.params ?? {});
      else if ("method" in message || unanswered.delete(message.id)) incoming?.enqueue(message);
      else onNoise(line);
    },
    close: () => close(),
  };
}

/** An agent that has gone reads nothing more; that is told by its exit. */
function writeLine(stdin: Writable, message: AnyMessage): Promise<void> {
  return new Promise((resolve) => {
    stdin.write(`${JSON.stringify(message)}\n`, () => resolve());
  });
}

function parseMessage(line: string): AnyMessage | null {
  if (!line.startsWith("{")) return null;
  try {
    const message = JSON.parse(line);
    return message.jsonrpc === "2.0" ? message : null;
  } catch {
    return null;
  }
}
