import type { Api } from "../api.ts";

/** A receiver of callbacks by its origin, or a webhook by its name. */
export interface Receiver {
  kind: "callback" | "delivery";
  receiver: string;
}

/** Starts a new round of attempts for all that is dead of a receiver. Returns how many were started. */
export async function redeliverAll(api: Api, { kind, receiver }: Receiver): Promise<number> {
  const path = kind === "callback" ? "/api/v2/callbacks/redeliver" : `/api/v2/webhooks/${encodeURIComponent(receiver)}/redeliver`;
  let started = 0;
  let cursor: string | null = null;
  do {
    const body: object = { ...(kind === "callback" && { origin: receiver }), ...(cursor !== null && { cursor }) };
    const answer: { redelivered: number; nextCursor: string | null } = await api.call(path, { method: "POST", body });
    started += answer.redelivered;
    cursor = answer.nextCursor;
  } while (cursor !== null);
  return started;
}

/** Names a number of callbacks or deliveries. */
export function countDead(kind: Receiver["kind"], count: number): string {
  const noun = kind === "callback" ? "callback" : "deliver";
  return `${count} ${kind === "callback" ? `${noun}${count === 1 ? "" : "s"}` : `${noun}${count === 1 ? "y" : "ies"}`}`;
}
