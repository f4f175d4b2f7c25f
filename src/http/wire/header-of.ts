import type { FastifyRequest } from "fastify";

/** A header that may come once; several are one text, as HTTP joins them. */
export function headerOf(request: Pick<FastifyRequest, "headers">, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}
