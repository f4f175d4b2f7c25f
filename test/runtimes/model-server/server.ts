import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fillIn, replyTo } from "./answer.ts";
import { anthropic } from "./anthropic.ts";
import { chatCompletions } from "./chat-completions.ts";
import type { Answer, Frame, ModelRequest, Protocol, Usage } from "./conversation.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import { type Scenario, type Step, scenarioMarker, stepSchema } from "./scenarios.ts";

const protocols = [anthropic, responses, chatCompletions, gemini];
const requestLimit = 1_000;
/** Time between the last byte of an answer and the reset of its connection. */
const BREAK_AFTER_MS = 500;

export interface ModelServerOptions {
  /** Text that adapters put before every message. `echo` and `recall` omit it. */
  messagePrefix?: string;
  port?: number;
}

/** A scripted model on 127.0.0.1 that implements the protocols of the vendors. */
export interface ModelServer {
  url: string;
  /** Registers a scenario, and returns the marker that selects it in a message or a system prompt. */
  scenario(steps: Step[]): string;
  /** The newest thousand requests, oldest first. */
  requests: ModelRequest[];
  /** The usage of all answers, oldest first. */
  usages: Usage[];
  close(): Promise<void>;
}

/** Starts the scripted model. */
export async function createModelServer({ messagePrefix = "", port = 0 }: ModelServerOptions = {}): Promise<ModelServer> {
  const scenarios = new Map<string, Scenario>();
  const requests: ModelRequest[] = [];
  const usages: Usage[] = [];

  const server = createServer(async (incoming, response) => {
    try {
      const request = await readRequest(incoming);
      requests.push(request);
      if (requests.length > requestLimit) requests.shift();
      await answer(request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, { error: { message: String(error) } });
    }
  });

  async function answer(request: ModelRequest, response: ServerResponse): Promise<void> {
    const protocol = protocols.find((one) => one.answers(request));
    if (protocol === undefined) {
      const body = protocols.map((one) => one.other?.(request)).find((found) => found !== undefined);
      return body === undefined ? sendJson(response, 404, { error: { message: "Not found" } }) : sendJson(response, 200, body);
    }
    const conversation = protocol.read(request);
    const reply = fillIn(replyTo(conversation, scenarios, messagePrefix), request.body);
    if ("error" in reply) return sendJson(response, reply.error, reply.body ?? protocol.errorBody(reply.error), reply.headers);
    usages.push(reply.answer.usage);
    if (conversation.stream) return await sendStream(response, protocol, reply.answer);
    if (reply.answer.stops?.by === "breaking") response.socket?.resetAndDestroy();
    else if (reply.answer.stops !== undefined) response.flushHeaders();
    else sendJson(response, 200, protocol.whole(reply.answer));
  }

  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    usages,
    scenario(steps) {
      const id = `s${scenarios.size + 1}`;
      scenarios.set(id, { steps: stepSchema.array().nonempty().parse(steps), failuresGiven: new Map() });
      return scenarioMarker(id);
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ModelRequest> {
  const body = await text(incoming);
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: body === "" ? null : JSON.parse(body),
    at: performance.now(),
  };
}

async function sendStream(response: ServerResponse, protocol: Protocol, answer: Answer): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  await pipeline(Readable.from(encodeFrames(protocol.stream(answer))), response, {
    end: answer.stops === undefined || answer.stops.by === "an error",
  });
  if (answer.stops?.by !== "breaking") return;
  // A client that notices the reset before it has read the text would discard the text.
  await delay(BREAK_AFTER_MS);
  response.socket?.resetAndDestroy();
}

function* encodeFrames(frames: Iterable<Frame>): Iterable<string> {
  for (const { event, data } of frames) {
    yield `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
  }
}

/** Without headers, a limit ends after a second. */
function sendJson(response: ServerResponse, status: number, body: unknown, headers = status === 429 ? { "retry-after": "1" } : {}): void {
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(typeof body === "string" ? body : JSON.stringify(body));
}
