import type { Logger } from "pino";
import type { ReceiveDispatch } from "../dispatch/receive-dispatch.ts";
import type { RequestRates } from "../http/wire/request-rates.ts";
import type { Metrics } from "../metrics.ts";
import { createPhaseReader } from "../queries/phase-reader.ts";
import type { TaskReader } from "../queries/task-reader.ts";
import { createOpHandler } from "../websocket/op-handler.ts";
import { createOps } from "../websocket/ops.ts";
import { createRunFollower } from "../websocket/run-follower.ts";
import { createSocketServer, type SocketServerOptions } from "../websocket/socket-server.ts";
import type { WorkspaceList } from "../workspaces/list-workspaces.ts";
import type { Engine } from "./engine.ts";

interface SocketOptions extends Pick<SocketServerOptions, "clientMemory" | "requestTurns" | "frameLimitBytes"> {
  engine: Pick<Engine, "store" | "eventLog" | "approvals" | "dispatcher">;
  receiveDispatch: ReceiveDispatch;
  tasks: TaskReader;
  workspaces: WorkspaceList;
  requestRates: RequestRates | null;
  /** Throws BridgeError if no task may start at the moment. */
  checkCanStart(): void;
  metrics: Metrics;
  logger: Logger;
}

/** Creates the WebSocket server with its ops. */
export function createSockets(options: SocketOptions) {
  const { engine, receiveDispatch, tasks, workspaces, requestRates, checkCanStart, ...server } = options;
  const { store, eventLog, approvals, dispatcher } = engine;
  const { logger } = server;
  const ops = createOps({
    ...{ receiveDispatch, dispatcher, tasks, approvals, workspaces, checkCanStart },
    follower: createRunFollower({ store, eventLog, logger }),
    phases: createPhaseReader({ store, dispatcher }),
  });
  return createSocketServer({
    ...server,
    handler: createOpHandler({ ops, logger, requestRates }),
    knownOps: ops.map(({ name }) => name),
    isDraining: dispatcher.isRefusing,
  });
}
