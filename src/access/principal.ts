/** Scopes that a token can have. */
export const scopes = ["dispatch", "read", "approve", "manage", "metrics"] as const;
export type Scope = (typeof scopes)[number];

/** The owner of a token: its identity, tenant and permissions. */
export interface Principal {
  /** Unique among the tokens. Rate limits are counted per name, and logs contain it. */
  name: string;
  tenant: string;
  scopes: ReadonlySet<Scope>;
  /** In ms since the epoch; null if the token never expires. */
  expiresAt: number | null;
  /** The principal of the token, if this is the principal of a session, or of a ticket with only some of the token's scopes. */
  derivedFrom?: Principal;
}

/** Returns the principal of a ticket that has only some scopes of its token. */
export const restrictScopes = (principal: Principal, granted: Iterable<Scope>): Principal => ({
  ...principal,
  scopes: new Set(granted),
  derivedFrom: principal,
});

/** Describes a missing scope, and what to do. `subject` is what requires the scope. */
export function describeMissingScope(
  subject: string,
  scope: Scope,
  { name, derivedFrom }: { name: string; derivedFrom?: { scopes: ReadonlySet<string> } },
): string {
  if (derivedFrom?.scopes.has(scope) === true)
    return (
      `${subject} requires the scope "${scope}". The token "${name}" has it, but the ticket or session of this request was created ` +
      "without it. Create another one with the scope."
    );
  return `${subject} requires a token with the scope "${scope}". Use another token, or have Bridge's operator add the scope to the token "${name}".`;
}

/** Returns whether a principal is the principal of a token, or of one of its tickets or sessions. */
export const derivesFrom = (principal: Principal, tokenPrincipal: Principal): boolean =>
  principal === tokenPrincipal || principal.derivedFrom === tokenPrincipal;

/** A principal and the SHA-256 of its token. */
export interface KnownToken {
  digest: Buffer;
  principal: Principal;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set in `onRequest` for every route that is not public. */
    principal: Principal;
  }
  interface FastifyContextConfig {
    /** The scope that the token needs; `any` if the route checks scopes itself. */
    scope?: Scope | "any";
    /** The route needs no token. */
    public?: boolean;
  }
}
