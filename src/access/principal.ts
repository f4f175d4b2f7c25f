/** Scopes a token can carry. */
export const scopes = ["dispatch", "read", "approve", "manage", "metrics"] as const;
export type Scope = (typeof scopes)[number];

/** Who a token speaks for. */
export interface Principal {
  /** Unique among the tokens; what rate limits count by and logs show. */
  name: string;
  tenant: string;
  scopes: ReadonlySet<Scope>;
  /** In ms since the epoch; null when it never expires. */
  expiresAt: number | null;
  /** The principal of the token, if this is a ticket with only some of its scopes. */
  narrowedFrom?: Principal;
}

/** The principal of a ticket with only some scopes of its token. */
export const narrow = (principal: Principal, granted: Iterable<Scope>): Principal => ({
  ...principal,
  scopes: new Set(granted),
  narrowedFrom: principal,
});

/** Whether a principal is that of the token, or of one of its tickets. */
export const comesFrom = (principal: Principal, token: Principal): boolean => principal === token || principal.narrowedFrom === token;

/** A principal and the SHA-256 of its token. */
export interface KnownToken {
  digest: Buffer;
  principal: Principal;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set in `onRequest` on every route that is not public. */
    principal: Principal;
  }
  interface FastifyContextConfig {
    /** What the caller's token must carry; `any` where that is asked later. */
    scope?: Scope | "any";
    /** Open to everybody. */
    public?: boolean;
  }
}
