import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { Principal } from "../../access/principal.ts";
import type { Tokens } from "../../access/tokens.ts";
import { BridgeError } from "../../errors.ts";
import { BRIDGE_ENDPOINT } from "../wire/upgrade.ts";

/** Where a short-lived ticket may stand for a token: what browsers open without being able to send a header. */
const ticketRoutes: ReadonlySet<string | undefined> = new Set(["/api/events", BRIDGE_ENDPOINT]);

/** Turns a ticket into the principal that asked for it, once. */
export interface TicketDesk {
  redeem(ticket: string): Principal | null;
}

/** The hook that lets nobody in without a valid token; in `onRequest`, so that no stranger's body is ever read. */
export function createAuthentication({ tokens, tickets }: { tokens: Pick<Tokens, "find">; tickets: TicketDesk }): onRequestHookHandler {
  const identify = (request: FastifyRequest): Principal => {
    const query = request.query as Record<string, unknown>;
    if ("token" in query || "access_token" in query)
      throw refuse("A token in the query is refused: it ends up in logs. Send Authorization: Bearer.");
    const { authorization } = request.headers;
    const ticket = query["ticket"];
    if (authorization === undefined && typeof ticket === "string" && ticketRoutes.has(request.routeOptions.url)) {
      return tickets.redeem(ticket) ?? fail("The ticket is not known, used or expired; ask for a new one.");
    }
    const [, token] = /^Bearer +([!-~]+)$/i.exec(authorization ?? "") ?? [];
    if (token === undefined) throw refuse("Send a token: Authorization: Bearer <token>.");
    return tokens.find(token) ?? fail("The token is not known or has expired.");
  };

  return (request, _reply, done) => {
    const { config } = request.routeOptions;
    if (config.public === true) return done();
    const principal = identify(request);
    request.principal = principal;
    if (config.scope === undefined || (config.scope !== "any" && !principal.scopes.has(config.scope))) {
      throw new BridgeError("scope_missing", `This needs a token with the scope "${config.scope}".`);
    }
    done();
  };
}

const refuse = (detail: string): BridgeError => new BridgeError("unauthenticated", detail);
const fail = (detail: string): never => {
  throw refuse(detail);
};
