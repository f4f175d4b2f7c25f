import type { Session } from "bridge-client";
import { createApi } from "./api.ts";

const MARK = "#t=";

/** Takes the ticket of a sign-in link out of the address, so that neither the history nor a copied address contains it. */
export function takeTicket(): string | null {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(MARK)) return null;
  history.replaceState(history.state, "", pathname + search);
  return hash.slice(MARK.length);
}

/** Exchanges the ticket for the token of a session. Rejects with an `ApiError`. */
export async function redeemTicket(ticket: string): Promise<string> {
  const options = { method: "POST", body: { ticket } } as const;
  return (await createApi(null, () => {}).call<Session>("/api/v2/sessions", options)).token;
}
