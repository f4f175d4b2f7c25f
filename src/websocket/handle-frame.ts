import type { Logger } from "pino";
import type { Principal } from "../access/principal.ts";
import { BridgeError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import type { BridgeChannel, BridgeRequest, BridgeRequestHandler, BridgeResponse } from "./bridge-protocol.ts";
import { cut, type EnvelopeFault, type Frame, parseEnvelope } from "./parse-envelope.ts";
import { refused } from "./responses.ts";

/** What frames are answered with. */
export interface FrameHandlerOptions {
  handler: BridgeRequestHandler;
  /** Names of ops that metrics may show: any other is only what somebody has written. */
  knownOps: ReadonlySet<string>;
  metrics: Pick<Metrics, "websocketRequests">;
  logger: Logger;
  clock: () => number;
}

/** Makes of a frame its answer, as text: exactly one, whatever the frame holds and whatever its handler does. */
export type FrameHandler = (frame: Frame, principal: Principal, channel: BridgeChannel) => Promise<string>;

export function createFrameHandler({ handler, knownOps, metrics, logger, clock }: FrameHandlerOptions): FrameHandler {
  async function handle(request: BridgeRequest): Promise<{ status: number; text: string }> {
    const { requestId } = request.meta;
    try {
      return encode(requestId, await handler.handle(request));
    } catch (error) {
      logger.error({ err: error, requestId: cut(requestId), op: cut(request.op) }, "an op failed");
      return encode(requestId, { status: 500, payload: { error: "handler-error" } });
    }
  }

  return async (frame, principal, channel) => {
    const { requestId, attributes, ...envelope } = parseEnvelope(frame);
    const { name, tenant, scopes } = principal;
    const { status, text } =
      envelope.op === undefined
        ? encode(requestId, describeFault(envelope.fault))
        : await handle({
            op: envelope.op,
            payload: envelope.payload,
            meta: { requestId, tenant, principal: { name, scopes }, timestamp: clock(), attributes, channel },
          });
    const op = envelope.op ?? "unknown";
    metrics.websocketRequests.inc({ op: knownOps.has(op) ? op : "unknown", status });
    logger.debug({ requestId: cut(requestId), op: cut(op), status, tenant, principal: name, attributes }, "bridge request");
    return text;
  };
}

const describeFault = (fault: EnvelopeFault | BridgeError): BridgeResponse =>
  fault instanceof BridgeError ? refused(fault) : { status: 400, payload: { error: fault } };

/** Throws when it is no answer. */
function encode(requestId: string, { status, payload }: BridgeResponse): { status: number; text: string } {
  if (!Number.isInteger(status) || typeof payload !== "object" || payload === null) throw new TypeError("The handler's answer is none.");
  return { status, text: JSON.stringify({ requestId, status, payload }) };
}
