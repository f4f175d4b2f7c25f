import { startReceiver } from "../support/start-receiver.ts";

/** One received callback. */
export interface ReceivedCallback {
  /** Tenant and task in the URL. */
  key: string;
  webhookId: string;
  body: string;
  /** Its position in the order of arrival of all callbacks and events. */
  order: number;
}

/**
 * Starts a receiver that answers the first attempts as the URL specifies (a status, or a reset connection), and later ones with success.
 */
export async function startCallbackReceiver({ nextOrder, onCallback }: { nextOrder(): number; onCallback(): void }) {
  const callbacks: ReceivedCallback[] = [];
  const attempts = new Map<string, number>();

  const receiver = await startReceiver((response, request, number) => {
    const post = receiver.posts[number - 1];
    const url = new URL(request.url ?? "", "http://receiver");
    const key = url.pathname.slice(1);
    const attempt = attempts.get(key) ?? 0;
    attempts.set(key, attempt + 1);
    callbacks.push({ key, webhookId: String(request.headers["webhook-id"]), body: post?.body.toString("utf8") ?? "", order: nextOrder() });
    onCallback();
    const answer = (url.searchParams.get("answers") ?? "").split(",")[attempt];
    if (answer === "reset") request.socket.resetAndDestroy();
    else {
      response.statusCode = Number(answer || 200);
      response.end();
    }
  });
  return { origin: receiver.origin, callbacks, close: receiver.close };
}
