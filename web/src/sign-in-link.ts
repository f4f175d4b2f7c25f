import type { Session } from "bridge-client";
import { createApi } from "./api.ts";

/** Takes the ticket of a sign-in link out of the address, so that neither the history nor a copied address contains it. */
export function takeTicket(): string | null {
  const ticket = /^#t=([\w-]+)$/.exec(location.hash)?.[1] ?? null;
  if (ticket !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return ticket;
}

/** Exchanges the ticket for the token of a session. Rejects with an `ApiError`. */
export async function redeemTicket(ticket: string): Promise<string> {
  const options = { method: "POST", body: { ticket } } as const;
  return (await createApi(null, () => {}).call<Session>("/api/v2/sessions", options)).token;
}
