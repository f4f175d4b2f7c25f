import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { createClientMemory } from "../../src/access/client-memory.ts";
import { createServer, type ServerOptions } from "../../src/http/server/create-server.ts";
import { createRequestTurns } from "../../src/http/wire/request-turns.ts";

/** Creates the server without Bridge's routes. By default it logs nothing and rejects every token. */
export const createBareServer = (options: Partial<ServerOptions> = {}): Promise<FastifyInstance> =>
  createServer({
    config: { bodyLimitBytes: 1024, corsOrigins: [] },
    logger: pino({ level: "silent" }),
    version: "test",
    tokens: { find: () => null },
    tickets: { redeem: async () => null },
    sessions: { isSession: () => false, find: async () => null },
    overload: { isOverloaded: false },
    clientMemory: createClientMemory(),
    requestTurns: createRequestTurns(),
    ...options,
  });
