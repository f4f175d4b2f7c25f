import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request as it came. */
export interface ReceivedRequest {
  method: string;
  target: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Answers one request. */
export type Answer = (response: ServerResponse) => void;

/** A server that gives each request the next answer, and the last one again and again. Ends with the test. */
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

/** Answers with JSON. */
export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** Refuses as Bridge does. */
export const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(status, { type: `urn:bridge:error:${code}`, title: code, status, detail: `It is ${code}.`, code, requestId: "request-1" }, headers);

/** Breaks the connection off. */
export const hangUp: Answer = (response) => response.destroy();

/** Opens an event stream with these lines and then ends it, breaks it off, or stays silent. */
export const stream =
  (text: string, then: "end" | "break" | "silence"): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(text, () => {
      if (then === "end") response.end();
      if (then === "break") response.destroy();
    });
  };

/** An event as Bridge writes it. */
export function frame(number: number, type = "execution.progress", data: object = {}): string {
  const id = `e-${number}`;
  const timestamp = "2026-01-01T00:00:00.000Z";
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ id, type, taskId: "t", agentId: "a", provider: "p", timestamp, data })}\n\n`;
}
