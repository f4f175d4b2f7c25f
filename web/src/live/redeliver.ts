import type { Api } from "../api.ts";
import { listPages } from "./list-pages.ts";

/** Callbacks or deliveries that are read to count those of a receiver: this many pages of this length. */
const MAX_PAGES = 10;
const PAGE_LENGTH = 200;

/** A receiver of callbacks by its origin, or a webhook by its name. */
export interface Receiver {
  kind: "callback" | "delivery";
  receiver: string;
}

/** Bridge counts the faults of the list up to this number. */
const MAX_COUNTED = 1000;

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

/** Counts what is pending and what is dead of a receiver. */
export async function countOpen(api: Api, { kind, receiver }: Receiver, signal: AbortSignal): Promise<{ pending: number; dead: number }> {
  const path = kind === "callback" ? "/api/v2/callbacks" : `/api/v2/webhooks/${encodeURIComponent(receiver)}/deliveries`;
  const count = async (state: string): Promise<number> => {
    const { data } = await listPages<{ url?: string }>(api, path, { state }, { pages: MAX_PAGES, pageLength: PAGE_LENGTH, signal });
    return kind === "delivery" ? data.length : data.filter(({ url = "" }) => URL.canParse(url) && new URL(url).origin === receiver).length;
  };
  const [pending, dead] = await Promise.all([count("pending"), count("dead")]);
  return { pending, dead };
}

/** Names a number of callbacks or deliveries. Bridge counts up to 1,000 faults, so such a number is a lower bound. */
export function countDead(kind: Receiver["kind"], count: number, { isCounted = false } = {}): string {
  const noun = kind === "callback" ? "callback" : "deliver";
  return `${isCounted && count >= MAX_COUNTED ? "at least " : ""}${count} ${kind === "callback" ? `${noun}${count === 1 ? "" : "s"}` : `${noun}${count === 1 ? "y" : "ies"}`}`;
}
