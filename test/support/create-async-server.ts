import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/**
 * Creates a server whose handler is asynchronous. A client that disconnects in its request ends the handler silently: as an unhandled
 * rejection, this would fail the whole run, and not only the test that has seen the end of the client.
 */
export const createAsyncServer = (handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Server =>
  createServer((request, response) => {
    handle(request, response).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET") throw error;
    });
  });
