import type { FastifyRequest } from "fastify";

/** The tenant of requests without a token, such as those for the documentation. */
export const PUBLIC_TENANT = "";

/** Returns the tenant of a request, `PUBLIC_TENANT` if it has no token. */
export const tenantOf = (request: FastifyRequest): string =>
  (request.principal as FastifyRequest["principal"] | null)?.tenant ?? PUBLIC_TENANT;
