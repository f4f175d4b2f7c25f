import { type ClientRequest, get } from "node:http";

/** Counts the agent's events in an event stream. It does little work per event, because it shares its core with the load. */
export interface EventCounter {
  readonly count: number;
  close(): void;
}

/** Opens the stream, and resolves when it is open. `onEvent` is called with each event of an agent. */
export async function openEventCounter(address: string, token: string, onEvent?: (frame: string) => void): Promise<EventCounter> {
  let count = 0;
  let rest = "";
  const opened = Promise.withResolvers<void>();
  const request: ClientRequest = get(
    `${address}/api/events`,
    { headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" } },
    (response) => {
      if (response.statusCode === 200) opened.resolve();
      else opened.reject(new Error(`The event stream was answered ${response.statusCode}.`));
      response.setEncoding("latin1");
      response.on("data", countEvents);
    },
  );
  request.once("error", opened.reject);

  function countEvents(chunk: string): void {
    const text = rest + chunk;
    let start = 0;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n", start)) {
      const field = text.indexOf("event: ", start);
      if (field !== -1 && field < end && isAgentEvent(text, field + "event: ".length)) {
        count += 1;
        onEvent?.(text.slice(start, end));
      }
      start = end + 2;
    }
    rest = text.slice(start);
  }

  await opened.promise;
  return {
    get count() {
      return count;
    },
    close() {
      request.off("error", opened.reject);
      request.on("error", () => {});
      request.destroy();
    },
  };
}

const isAgentEvent = (text: string, at: number): boolean => text.startsWith("tool.", at) || text.startsWith("execution.progress", at);
