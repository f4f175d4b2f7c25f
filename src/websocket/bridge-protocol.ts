// The entry `bridge-server/bridge-protocol` of the package.

// The former names.
export type {
  OpChannel as BridgeChannel,
  OpHandler as BridgeRequestHandler,
  OpMeta as BridgeMeta,
  OpRequest as BridgeRequest,
  OpResponse as BridgeResponse,
  SocketServer as BridgeServer,
} from "./op-protocol.ts";
export * from "./op-protocol.ts";
