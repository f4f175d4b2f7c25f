import type { IncomingMessage } from "node:http";

/** Where the WebSocket bridge protocol is spoken. */
export const BRIDGE_ENDPOINT = "/ws/bridge";

/** Does the request ask for a WebSocket where there is one? */
export const isBridgeUpgrade = ({ method, url, headers }: Pick<IncomingMessage, "method" | "url" | "headers">): boolean =>
  method === "GET" && url?.split("?", 1)[0] === BRIDGE_ENDPOINT && headers.upgrade?.toLowerCase() === "websocket";
