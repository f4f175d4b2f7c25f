import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { createAsyncServer } from "../../support/create-async-server.ts";

/** A request that the server received. */
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

/** The behavior of the server. */
export interface ServerBehavior {
  /** Name of the recording whose events follow a prompt. */
  recording: string;
  /** The permission rules that it reports for its agent. */
  rules: readonly object[];
  /** The required password; absent for none. */
  password?: string;
  /** Sends no events after the first that contains this text. */
  until?: string;
  /** Whether it then closes the event stream. */
  hangsUp?: boolean;
}

/**
 * Starts a server on 127.0.0.1 that answers like `opencode serve`. After a prompt it replays a recording, and pauses until its permission
 * request is answered.
 */
export async function createScriptedServer({
  recording,
  rules,
  password,
  until,
  hangsUp = false,
}: ServerBehavior): Promise<ScriptedServer> {
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

  const server = createAsyncServer(async (request, response) => {
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

/** Splits events after the first one that contains this text. */
function cut(events: string, text: string): [string, string] {
  const at = events.indexOf(text);
  const end = at === -1 ? events.length : events.indexOf("\n\n", at) + 2;
  return [events.slice(0, end), events.slice(end)];
}
