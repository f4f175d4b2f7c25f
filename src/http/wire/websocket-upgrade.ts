import type { IncomingMessage } from "node:http";

/** Path of the WebSocket bridge protocol. */
export const WEBSOCKET_PATH = "/ws/bridge";

/** Returns whether the request asks for a WebSocket at `WEBSOCKET_PATH`. */
export const isWebSocketUpgrade = ({ method, url, headers }: Pick<IncomingMessage, "method" | "url" | "headers">): boolean =>
  method === "GET" && url?.split("?", 1)[0] === WEBSOCKET_PATH && headers.upgrade?.toLowerCase() === "websocket";
