const types = [
  "execution.started execution.attempt execution.progress usage.reported",
  "assistant.text assistant.text_discarded tool.invoked tool.completed",
  "budget.warning tool.approval_requested tool.approval_resolved",
  "execution.completed execution.failed callback.delivered callback.dead stream.gap",
];

/**
 * Follows Bridge's events in a browser. `createTicket()` resolves to the response of POST /api/v2/events/ticket.
 * Returns a function that stops.
 */
export function followEvents(url, createTicket, onEvent, { lastEventId = "", retryDelayMs = 3000 } = {}) {
  let source = null;
  let stopped = false;
  let retry;
  const reconnect = () => {
    if (!stopped) retry = setTimeout(() => void connect(), retryDelayMs);
  };
  async function connect() {
    const created = await createTicket().catch(() => null);
    if (stopped || created === null) return reconnect();
    source = new EventSource(`${url}?${new URLSearchParams({ ticket: created.ticket, ...(lastEventId && { lastEventId }) })}`);
    const receive = (message) => {
      lastEventId = message.lastEventId || lastEventId;
      onEvent(message.type, JSON.parse(message.data));
    };
    for (const type of types.join(" ").split(" ")) source.addEventListener(type, receive);
    source.onerror = () => {
      source.close(); // The browser's own reconnect would send the used ticket.
      reconnect();
    };
  }
  void connect();
  return () => {
    stopped = true;
    clearTimeout(retry);
    source?.close();
  };
}
