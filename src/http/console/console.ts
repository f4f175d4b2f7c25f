import type { FastifyPluginAsync, FastifyReply } from "fastify";
import { BridgeError } from "../../errors.ts";
import { type EncodedDocument, sendDocument } from "../wire/encoded-document.ts";
import { createConsoleFiles } from "./console-files.ts";

/**
 * The page runs and loads only what Bridge serves. `lit-html` is the policy of the library that renders it, so no other code can turn text
 * into HTML.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types lit-html",
].join("; ");

const pageHeaders = {
  "content-security-policy": PAGE_POLICY,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** Names of assets contain a hash of their content. */
const ASSETS = "assets/";
const IMMUTABLE = "public, max-age=31536000, immutable";

/** `GET /ui/` and everything below: the console. Every path that is not an asset returns the page, which then shows what the path names. */
export const consoleRoutes: FastifyPluginAsync = async (app) => {
  const files = createConsoleFiles();
  const options = { config: { public: true }, schema: { hide: true } };

  // Relative, so that it is also correct behind a proxy with a path prefix.
  app.get("/ui", options, async (_request, reply) => reply.code(302).header("location", "ui/").send());

  app.get<{ Params: { "*": string } }>("/ui/*", options, async (request, reply) => {
    reply.headers(pageHeaders);
    const name = request.params["*"];
    if (!name.startsWith(ASSETS)) return sendPage(reply, await files.find("index.html"), name);
    const asset = await files.find(name);
    if (asset === undefined) throw new BridgeError("not_found", "The console has no such file. Reload the page.");
    return sendDocument(request, reply.header("cache-control", IMMUTABLE), asset);
  });
};

/** Sends the page with paths of its assets that are relative to the requested path. */
function sendPage(reply: FastifyReply, page: EncodedDocument | undefined, name: string): FastifyReply {
  if (page === undefined) throw new BridgeError("not_found", "The console is not built. Run: npm run build:console");
  const toRoot = "../".repeat(name.split("/").length - 1) || "./";
  // `no-cache` lets a browser keep the page for its back button, but not show it without asking.
  return reply
    .header("cache-control", "no-cache")
    .type(page.type)
    .send(page.bytes.toString("utf8").replaceAll('="./', `="${toRoot}`));
}
