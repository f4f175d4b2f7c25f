import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One received request. */
export interface ReceivedRequest {
  method: string;
  target: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Responds to one request. */
export type Answer = (response: ServerResponse) => void;

/** Starts a server that sends the next answer to each request, and repeats the last one. Stops at the end of the test. */
export async function startScriptedServer(...answers: Answer[]): Promise<{ url: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    const received = { method: request.method ?? "", target: request.url ?? "", headers: request.headers, body: "" };
    requests.push(received);
    request.setEncoding("utf8").on("data", (text: string) => {
      received.body += text;
    });
    request.on("end", () => answer?.(response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Responds with JSON. */
export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** Responds with an error of Bridge. */
export const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(status, { type: `urn:bridge:error:${code}`, title: code, status, detail: `It is ${code}.`, code, requestId: "request-1" }, headers);

/** Closes the connection without a response. */
export const hangUp: Answer = (response) => response.destroy();

/** Sends an event stream with these lines, then ends it, closes the connection or stays silent. */
export const stream =
  (text: string, then: "end" | "break" | "silence"): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(text, () => {
      if (then === "end") response.end();
      if (then === "break") response.destroy();
    });
  };

/** Formats an event as Bridge does. */
export function frame(number: number, type = "execution.progress", data: object = {}): string {
  const id = `e-${number}`;
  const timestamp = "2026-01-01T00:00:00.000Z";
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ id, type, taskId: "t", agentId: "a", provider: "p", timestamp, data })}\n\n`;
}
