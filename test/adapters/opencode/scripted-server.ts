import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** What was asked of the server, in its order. */
interface Call {
  what: string;
  body: unknown;
}

interface ScriptedServer {
  origin: string;
  calls: Call[];
  /** The session of the recording. */
  session: string;
}

/** How the server is; what is absent is as it should be. */
export interface ScriptedBehaviour {
  /** The events that follow a prompt: a recording's name. */
  recording: string;
  /** The rules of the agent that it says to have. */
  rules: readonly object[];
  /** Without it every caller is let in. */
  password?: string;
  /** It says no more after this event. */
  until?: string;
  /** Then it hangs up. */
  hangsUp?: boolean;
}

/** A server on 127.0.0.1 that answers like `opencode serve` and, once it has a prompt, plays what one has said; it waits for its question's answer. */
export async function createScriptedServer({
  recording,
  rules,
  password,
  until,
  hangsUp = false,
}: ScriptedBehaviour): Promise<ScriptedServer> {
  const recorded = readFileSync(path.join(import.meta.dirname, "recorded", `serve-${recording}.sse`), "utf8");
  const [played, rest] = cut(until === undefined ? recorded : cut(recorded, until)[0], '"permission.asked"');
  const session = /"sessionID":"(ses_\w+)"/.exec(recorded)?.[1] as string;
  const calls: Call[] = [];
  let events: ServerResponse | undefined;

  const answers: Record<string, (response: ServerResponse) => unknown> = {
    "GET /event": (response) => {
      events = response.writeHead(200, { "content-type": "text/event-stream" });
      events.write('data: {"type":"server.connected","properties":{}}\n\n');
    },
    "GET /agent": (response) => response.end(JSON.stringify([{ name: "bridge", permission: rules }])),
    "POST /session": (response) => response.end(JSON.stringify({ id: session })),
    [`GET /session/${session}`]: (response) => response.end("{}"),
    [`POST /session/${session}/prompt_async`]: (response) => {
      response.writeHead(204).end();
      events?.write(played);
      if (hangsUp) events?.end();
    },
    [`POST /session/${session}/abort`]: (response) => response.end("true"),
  };

  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const what = `${request.method} ${request.url}`;
    const body = await text(request);
    if (password !== undefined && request.headers.authorization !== `Basic ${btoa(`opencode:${password}`)}`)
      return void response.writeHead(401).end();
    calls.push({ what, body: body === "" ? null : JSON.parse(body) });
    if (what.startsWith("POST /permission/")) {
      response.end("true");
      events?.write(rest);
    } else if (answers[what] === undefined) response.writeHead(404).end('{"name":"NotFoundError"}');
    else answers[what](response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, session };
}

/** Events up to the first with this text in it, and those behind it. */
function cut(events: string, text: string): [string, string] {
  const at = events.indexOf(text);
  const end = at === -1 ? events.length : events.indexOf("\n\n", at) + 2;
  return [events.slice(0, end), events.slice(end)];
}
