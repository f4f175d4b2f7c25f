import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { createServer, type ServerOptions } from "../../src/http/server/create-server.ts";
import { createClientMemory } from "../../src/http/wire/client-memory.ts";

/** The server without a single route of ours: silent, and closed to every token, unless `options` say otherwise. */
export const createBareServer = (options: Partial<ServerOptions> = {}): Promise<FastifyInstance> =>
  createServer({
    config: { bodyLimitBytes: 1024, rateLimitPerMinute: null, corsOrigins: [] },
    logger: pino({ level: "silent" }),
    version: "test",
    tokens: { find: () => null },
    tickets: { redeem: () => null },
    overload: { isOverloaded: false },
    clientMemory: createClientMemory(),
    ...options,
  });
