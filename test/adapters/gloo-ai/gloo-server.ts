import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createModelServer, type ModelServer } from "../../runtimes/model-server/server.ts";

/** A response that the model endpoint sends once instead of the scripted model: a body, or the frames of a stream. */
export type Canned = { status?: number; headers?: Record<string, string> } & ({ body: unknown } | { frames: readonly unknown[] });

/** The behavior and the history of the token endpoint. */
interface TokenEndpoint {
  /** Lifetime of its tokens, in seconds. */
  seconds: number;
  /** Error status to answer with; null to issue tokens. */
  refusal: number | null;
  /** Requested tokens, oldest first. */
  minted: string[];
  /** Responses wait for this promise. */
  gate: Promise<unknown>;
}

/** A fake of Gloo AI on 127.0.0.1: OAuth client credentials, and chat completions by a scripted model. */
export interface GlooServer {
  env: Readonly<Record<string, string>>;
  settings: Readonly<Record<string, string>>;
  tokens: TokenEndpoint;
  /** Revokes all tokens. */
  revoke(): void;
  /** Queues the next response of the model endpoint. */
  answerNext(canned: Canned): void;
  scenario: ModelServer["scenario"];
  /** Requests for chat completions, including rejected ones. */
  asked: { token: string; body: Record<string, unknown> }[];
  close(): Promise<void>;
}

export const client = { id: "client-4711", secret: "s3cret:+/=" };
const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
const families = ["openai", "anthropic", "google", "open source"];

/** Starts the server. */
export async function createGlooServer(): Promise<GlooServer> {
  const model = await createModelServer();
  const valid = new Set<string>();
  const canned: Canned[] = [];
  const asked: GlooServer["asked"] = [];
  const tokens: TokenEndpoint = { seconds: 3600, refusal: null, minted: [], gate: Promise.resolve() };

  const mint = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(await text(incoming));
    const token = `token-${tokens.minted.length + 1}`;
    tokens.minted.push(token);
    await tokens.gate;
    if (tokens.refusal !== null) return send(response, tokens.refusal, { error: "refused", error_description: `not for ${client.secret}` });
    if (incoming.headers.authorization !== basic) return send(response, 401, { error: "invalid_client" });
    if (form.get("grant_type") !== "client_credentials") return send(response, 400, { error: "unsupported_grant_type" });
    if (form.get("scope") !== "api/access") return send(response, 400, { error: "invalid_scope" });
    valid.add(token);
    send(response, 200, { access_token: token, expires_in: tokens.seconds, token_type: "Bearer" });
  };

  const complete = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(incoming)) as Record<string, unknown>;
    const token = incoming.headers.authorization?.replace("Bearer ", "") ?? "";
    asked.push({ token, body });
    if (!valid.has(token)) return send(response, 401, { message: "Unauthorized" });
    const fault = faultIn(body);
    if (fault !== null) return send(response, 400, { error: { code: 1001, name: "INVALID_REQUEST", message: fault, retryable: false } });
    const next = canned.shift();
    if (next !== undefined) return play(response, next);
    await forward(model.url, body, response);
  };

  const server = createServer(async (incoming, response) => {
    try {
      if (incoming.method !== "POST") send(response, 405, { error: "Method not allowed" });
      else if (incoming.url === "/oauth2/token") await mint(incoming, response);
      else if (incoming.url === "/ai/v2/chat/completions") await complete(incoming, response);
      else send(response, 404, { error: "Not found" });
    } catch {
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: { GLOO_CLIENT_ID: client.id, GLOO_CLIENT_SECRET: client.secret },
    settings: { baseUrl: `${url}/ai/v2`, tokenUrl: `${url}/oauth2/token` },
    tokens,
    revoke: () => valid.clear(),
    answerNext: (answer) => void canned.push(answer),
    scenario: model.scenario,
    asked,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, model.close()]);
    },
  };
}

function faultIn({ messages, model, auto_routing: auto, model_family: family, tools }: Record<string, unknown>): string | null {
  if (!Array.isArray(messages) || messages.length === 0) return "messages must not be empty";
  if ([model, auto, family].filter((given) => given !== undefined).length !== 1)
    return "Exactly one of model, auto_routing and model_family is required";
  if (family !== undefined && !families.includes(String(family))) return "Unknown model family";
  if (model === "gloo-deepseek-r1" && tools !== undefined) return "The model takes no tools";
  return null;
}

/** Returns the model and how it was chosen, in Gloo's fields. */
function routed({ model, auto_routing: auto, model_family: family, tradition }: Record<string, unknown>): Record<string, unknown> {
  const routing =
    auto === true
      ? { routing_mechanism: "auto_routing", routing_tier: "tier_2", routing_confidence: 0.87 }
      : { routing_mechanism: family === undefined ? "direct_model_selection" : "model_family" };
  return {
    ...routing,
    model: model ?? "gloo-google-gemini-2.5-flash",
    provider: "Google",
    model_family: family ?? "google",
    ...(tradition !== undefined && { tradition }),
  };
}

/** Forwards the request to the scripted model and adds Gloo's fields to its response. */
async function forward(url: string, body: Record<string, unknown>, response: ServerResponse): Promise<void> {
  const own = routed(body);
  const disconnected = new AbortController();
  response.on("close", () => disconnected.abort());
  const { auto_routing: _, model_family: __, ...rest } = body;
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ ...rest, model: own["model"] }),
    signal: disconnected.signal,
  });
  const isStream = answer.headers.get("content-type") === "text/event-stream";
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
  response.flushHeaders();
  let unread = "";
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (unread + piece).split("\n\n");
    unread = parts.pop() ?? "";
    for (const part of parts) response.write(`${withFields(part, own)}\n\n`);
  }
  response.end(isStream || answer.status !== 200 ? unread : JSON.stringify({ ...JSON.parse(unread), ...own }));
}

function withFields(frame: string, own: object): string {
  const data = frame.slice("data: ".length);
  return data === "[DONE]" ? frame : `data: ${JSON.stringify({ ...JSON.parse(data), ...own })}`;
}

function play(response: ServerResponse, canned: Canned): void {
  if ("body" in canned) send(response, canned.status ?? 200, canned.body, canned.headers);
  else {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end([...canned.frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`), "data: [DONE]\n\n"].join(""));
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
