import type { FastifyPluginAsync } from "fastify";

/** The icon of Bridge's pages: a bridge over water, as SVG. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M2 22h28M5 22a11 11 0 0 1 22 0M10 22v-8m6 8V11m6 11v-8" fill="none" stroke="#2563eb" stroke-width="2.5"/></svg>';

/** `GET /favicon.ico`: the icon. Browsers ask for this path also on pages that name another one. */
export const iconRoutes: FastifyPluginAsync = async (app) => {
  app.get("/favicon.ico", { config: { public: true }, schema: { hide: true } }, async (_request, reply) =>
    reply.header("cache-control", "public, max-age=86400").type("image/svg+xml").send(ICON),
  );
};
