import type { FastifyRequest, onRequestHookHandler } from "fastify";
import { describeMissingScope, type Principal } from "../../access/principal.ts";
import type { Sessions } from "../../access/sessions.ts";
import type { Tickets } from "../../access/tickets.ts";
import type { Tokens } from "../../access/tokens.ts";
import { BridgeError } from "../../errors.ts";
import { readBearerToken } from "../wire/bearer-token.ts";
import { WEBSOCKET_PATH } from "../wire/websocket-upgrade.ts";

/** Routes that accept a ticket instead of a token, because browsers cannot send a header when they open a stream or a socket. */
const ticketRoutes: ReadonlySet<string | undefined> = new Set(["/api/events", WEBSOCKET_PATH]);

/** The lookups of principals by token, ticket and session. */
export interface Credentials {
  tokens: Pick<Tokens, "find">;
  tickets: Pick<Tickets, "redeem">;
  sessions: Pick<Sessions, "isSession" | "find">;
}

/**
 * Creates the hook that rejects requests without a valid token. It runs in `onRequest`, so that Bridge does not read
 * the bodies of such requests.
 */
export function createAuthentication({ tokens, tickets, sessions }: Credentials): onRequestHookHandler {
  const identify = (request: FastifyRequest): Principal | Promise<Principal> => {
    const query = request.query as Record<string, unknown>;
    if ("token" in query || "access_token" in query)
      throw createUnauthenticatedError(
        "A token in the query is not accepted, because URLs are often logged. Send it as Authorization: Bearer <token>.",
      );
    const { authorization } = request.headers;
    const ticket = query["ticket"];
    if (authorization === undefined && typeof ticket === "string" && ticketRoutes.has(request.routeOptions.url)) {
      return redeem(ticket);
    }
    const token = readBearerToken(request);
    if (token === undefined) throw createUnauthenticatedError("The request has no token. Send it as Authorization: Bearer <token>.");
    if (sessions.isSession(token)) return findSession(token);
    return tokens.find(token) ?? rejectCredentials("The token is unknown or has expired.");
  };

  const redeem = async (ticket: string): Promise<Principal> =>
    (await tickets.redeem(ticket)) ?? rejectCredentials("The ticket is unknown, used or expired. Create a new one.");

  const findSession = async (token: string): Promise<Principal> =>
    (await sessions.find(token)) ?? rejectCredentials("The session is unknown or has ended. Sign in again.");

  return (request, _reply, done) => {
    if (request.routeOptions.config.public === true) return done();
    const principal = identify(request);
    if (!(principal instanceof Promise)) {
      authorize(request, principal);
      return done();
    }
    principal.then((redeemed) => authorize(request, redeemed)).then(() => done(), done);
  };
}

/** Sets the principal of a request. Throws BridgeError: scope_missing. */
function authorize(request: FastifyRequest, principal: Principal): void {
  request.principal = principal;
  const { scope } = request.routeOptions.config;
  if (scope === undefined) throw new BridgeError("scope_missing", "This route declares no scope, so no token can use it.");
  if (scope !== "any" && !principal.scopes.has(scope))
    throw new BridgeError("scope_missing", describeMissingScope("This route", scope, principal));
}

const createUnauthenticatedError = (detail: string): BridgeError => new BridgeError("unauthenticated", detail);
const rejectCredentials = (detail: string): never => {
  throw createUnauthenticatedError(detail);
};
