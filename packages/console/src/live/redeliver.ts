import type { Api, Page } from "../api.ts";
import { listPages } from "./list-pages.ts";

/** Callbacks or deliveries that are read to count those of a receiver: this many pages of this length. */
const MAX_PAGES = 10;
const PAGE_LENGTH = 200;

/** What is redelivered: all that is dead of a receiver, of all receivers of callbacks, or one callback or delivery. */
export interface Redelivered {
  kind: "callback" | "delivery";
  /** The origin of callbacks, or the name of a webhook. Null for all origins. */
  receiver: string | null;
  /** Only the callback of this task, or this delivery. */
  id?: string;
}

/** What is not delivered. `isCapped`: more than could be counted. */
export interface Open {
  pending: number;
  dead: number;
  isCapped: boolean;
}

type Listed = { url?: string; taskId?: string | null; deliveryId?: string };

const pathOf = ({ kind, receiver }: Redelivered): string =>
  kind === "callback" ? "/api/v2/callbacks" : `/api/v2/webhooks/${encodeURIComponent(receiver ?? "")}`;

/** Returns the origin of a callback. */
export const originOf = (url = ""): string => (URL.canParse(url) ? new URL(url).origin : url);

/** Starts a new round of attempts for all that is chosen. Returns how many were started. */
export async function redeliverAll(api: Api, chosen: Redelivered): Promise<number> {
  const { kind, receiver, id } = chosen;
  if (id !== undefined) {
    const parent = kind === "callback" ? pathOf(chosen) : `${pathOf(chosen)}/deliveries`;
    await api.call(`${parent}/${encodeURIComponent(id)}/redeliver`, { method: "POST" });
    return 1;
  }
  if (receiver === null) return redeliverToEach(api);
  let started = 0;
  let cursor: string | null = null;
  do {
    const body: object = { ...(kind === "callback" && { origin: receiver }), ...(cursor !== null && { cursor }) };
    const answer: { redelivered: number; nextCursor: string | null } = await api.call(`${pathOf(chosen)}/redeliver`, {
      method: "POST",
      body,
    });
    started += answer.redelivered;
    cursor = answer.nextCursor;
  } while (cursor !== null);
  return started;
}

/** Redelivers to each origin in the list of dead callbacks, page by page. A callback that dies again meanwhile is not redelivered twice. */
async function redeliverToEach(api: Api): Promise<number> {
  const done = new Set<string>();
  let started = 0;
  let cursor: string | undefined;
  do {
    const page: Page<Listed> = await api.list("/api/v2/callbacks", { state: "dead", limit: PAGE_LENGTH, cursor });
    for (const origin of new Set(page.data.map(({ url }) => originOf(url)))) {
      if (done.has(origin)) continue;
      done.add(origin);
      started += await redeliverAll(api, { kind: "callback", receiver: origin });
    }
    cursor = page.meta.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return started;
}

/** Counts what is pending and what is dead of what was redelivered. */
export async function countOpen(api: Api, chosen: Redelivered, signal: AbortSignal): Promise<Open> {
  const { kind, receiver, id } = chosen;
  const path = kind === "callback" ? pathOf(chosen) : `${pathOf(chosen)}/deliveries`;
  const isChosen = ({ url, taskId, deliveryId }: Listed): boolean =>
    id === undefined
      ? kind === "delivery" || receiver === null || originOf(url) === receiver
      : id === (kind === "callback" ? taskId : deliveryId);
  const count = async (state: string) => {
    const { data, meta } = await listPages<Listed>(api, path, { state }, { pages: MAX_PAGES, pageLength: PAGE_LENGTH, signal });
    return { number: data.filter(isChosen).length, isCapped: meta.nextCursor !== null };
  };
  const [pending, dead] = await Promise.all([count("pending"), count("dead")]);
  return { pending: pending.number, dead: dead.number, isCapped: pending.isCapped || dead.isCapped };
}

/** Names a number of callbacks or deliveries. A number that was counted up to `max` is a lower bound if it is that large. */
export function countDead(kind: Redelivered["kind"], count: number, max = Number.POSITIVE_INFINITY): string {
  const noun = kind === "callback" ? (count === 1 ? "callback" : "callbacks") : count === 1 ? "delivery" : "deliveries";
  return `${count >= max ? "at least " : ""}${count} ${noun}`;
}
