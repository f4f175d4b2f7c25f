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
import { stringifyWellFormed } from "#contract";
import { parseCutLine } from "../process/cut-line.ts";
import { parseJsonLine } from "../process/parse-json-line.ts";
import { AgentExited } from "./acp-failure.ts";
import { readUpdate } from "./read-update.ts";

/** Receives the messages of an agent that are not responses. */
export interface AcpListener {
  /** Called in the order of the updates, and before any later request or response is handled. */
  onUpdate(params: { sessionId?: unknown; update?: unknown }): void;
  /** Called for notifications that are not part of the protocol, in order with the updates. */
  onExtension(method: string, params: { sessionId?: unknown }): void;
  /** Several requests can wait for their answers at the same time. */
  onPermission(params: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  /** Called for lines that are not protocol messages. */
  onNoise(line: string): void;
}

/** Creates a protocol connection over the stdin and stdout of an agent. The caller limits the length of the lines. */
export function createAcpChannel({ onUpdate, onExtension, onPermission, onNoise }: AcpListener) {
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

  /** Returns the id of the request that a response answers. Some agents return a number as text. */
  const takeRequestId = (id: JsonRpcId): JsonRpcId | undefined =>
    [id, Number(id)].find((requestId) => String(requestId) === String(id) && unanswered.delete(requestId));

  return {
    /** Opens the connection; `stdin` is the agent's stdin. */
    open(stdin: Writable): ClientContext {
      const connection = client({ name: "bridge" })
        .onRequest(methods.client.session.requestPermission, ({ params }) => onPermission(params))
        .connect({ readable, writable: new WritableStream({ write: (message) => send(stdin, message) }) });
      close = () => connection.close(new AgentExited("The agent exited."));
      return connection.agent;
    },
    /** Handles a line of the agent's stdout. */
    onLine(line: string): void {
      const message = parseMessage(line);
      if (message === null) onNoise(line);
      // The SDK does not keep the order of updates and rejects unknown kinds, so updates bypass it.
      else if ("method" in message && message.method === methods.client.session.update) onUpdate(message.params ?? {});
      else if ("method" in message && !("id" in message) && message.method.startsWith("_"))
        onExtension(message.method, message.params ?? {});
      else if ("method" in message) incoming?.enqueue(message);
      else {
        const id = takeRequestId(message.id);
        if (id === undefined) onNoise(line);
        else incoming?.enqueue({ ...message, id });
      }
    },
    /** Handles a line over the limit if it reports a tool call, whose input and output may be cut; returns false for any other line. */
    onLongLine(beginning: string): boolean {
      const message = parseCutLine(beginning);
      const params = message?.["method"] === methods.client.session.update ? (message["params"] as { update?: unknown }) : undefined;
      const update = readUpdate(params?.update)?.sessionUpdate;
      const isCall = update === "tool_call" || update === "tool_call_update";
      if (isCall) onUpdate(params ?? {});
      return isCall;
    },
    /** Rejects all open requests with `AgentExited`. */
    close: (): void => close(),
  };
}

/** Ignores write errors: if the agent has exited, its exit is the error. */
function writeLine(stdin: Writable, message: AnyMessage): Promise<void> {
  return new Promise((resolve) => {
    stdin.write(`${stringifyWellFormed(message)}\n`, () => resolve());
  });
}

function parseMessage(line: string): AnyMessage | null {
  const message = parseJsonLine(line);
  return message?.["jsonrpc"] === "2.0" ? (message as unknown as AnyMessage) : null;
}
