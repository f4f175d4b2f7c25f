import type { Principal } from "../../src/access/principal.ts";
import type { Tokens } from "../../src/access/tokens.ts";

/** Creates tokens that are equal to the names of their principals. The map can change while a server uses it. */
export const createNamedTokens = (principals: ReadonlyMap<string, Principal>): Pick<Tokens, "find" | "findByName"> => ({
  find: (token) => principals.get(token) ?? null,
  findByName(name) {
    const principal = principals.get(name);
    return principal === undefined ? null : { digest: Buffer.from(name), principal };
  },
});
