import type { FastifyRequest } from "fastify";

/** Returns the token of the header `Authorization`; undefined if there is none. */
export const readBearerToken = ({ headers }: Pick<FastifyRequest, "headers">): string | undefined =>
  /^Bearer +([!-~]+)$/i.exec(headers.authorization ?? "")?.[1];
