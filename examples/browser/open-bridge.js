/**
 * Opens Bridge's WebSocket in a browser. `createTicket()` resolves to the response of POST /api/v2/events/ticket.
 * `onEvent({runId, event})` receives the events of followed runs.
 */
export async function openBridge(url, createTicket, onEvent = () => {}) {
  const { ticket } = await createTicket();
  const socket = new WebSocket(`${url}?${new URLSearchParams({ ticket })}`);
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const { requestId, op, status, payload } = JSON.parse(data);
    if (op === "agent.event") return onEvent(payload);
    waiting.get(requestId)?.resolve({ status, payload });
    waiting.delete(requestId);
  };
  socket.onclose = ({ code, reason }) => {
    for (const { reject } of waiting.values()) reject(new Error(`The socket was closed: ${code} ${reason}`));
    waiting.clear();
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("The socket could not be opened."));
  });
  return {
    /** Resolves to `{status, payload}`; an op that this server does not know has the status 404. */
    ask: (op, payload = {}) =>
      new Promise((resolve, reject) => {
        if (socket.readyState !== WebSocket.OPEN) throw new Error("The socket is closed.");
        const requestId = crypto.randomUUID();
        waiting.set(requestId, { resolve, reject });
        socket.send(JSON.stringify({ requestId, op, payload }));
      }),
    close: () => socket.close(),
  };
}
