import type { Logger } from "pino";
import { stringifyWellFormed } from "#contract";
import { type Reservation, UNCOUNTED_BYTES } from "../access/client-memory.ts";
import type { Principal } from "../access/principal.ts";
import { BridgeError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import type { OpChannel, OpHandler, OpRequest, OpResponse } from "./op-protocol.ts";
import { type EnvelopeFault, type Frame, parseEnvelope, truncate } from "./parse-envelope.ts";
import { toErrorResponse } from "./responses.ts";

/** Options of the handler. */
export interface FrameHandlerOptions {
  handler: OpHandler;
  /** Names of ops that metrics may contain. Other names are chosen by clients and are counted as `unknown`. */
  knownOps: ReadonlySet<string>;
  metrics: Pick<Metrics, "websocketRequests">;
  logger: Logger;
  clock: () => number;
}

/** The connection on which a frame arrived. */
export interface FrameContext {
  principal: Principal;
  channel: OpChannel;
  /** Reserves memory for the response. */
  reserve(bytes: number): Promise<void>;
  /** Reserves memory for the values in the frame. Released when the frame is answered. */
  values: Reservation;
}

/** Creates the function that processes a frame and returns the text of its response. It never rejects. */
export function createFrameHandler({ handler, knownOps, metrics, logger, clock }: FrameHandlerOptions) {
  async function handle(request: OpRequest): Promise<{ status: number; text: string }> {
    const { requestId } = request.meta;
    try {
      return encode(requestId, await handler.handle(request));
    } catch (error) {
      logger.error({ err: error, requestId: truncate(requestId), op: truncate(request.op) }, "op failed");
      return encode(requestId, { status: 500, payload: { error: "handler-error" } });
    }
  }

  async function answer(frame: Frame, { principal, channel, reserve, values }: FrameContext): Promise<string> {
    const { name, tenant } = principal;
    const reserveValues = async (bytes: number) => (bytes < UNCOUNTED_BYTES ? undefined : values.reserve(bytes));
    const { requestId, attributes, ...envelope } = await parseEnvelope(frame, reserveValues);
    const { status, text } =
      envelope.op === undefined
        ? encode(requestId, toFaultResponse(envelope.fault))
        : await handle({
            op: envelope.op,
            payload: envelope.payload,
            meta: { requestId, tenant, principal, timestamp: clock(), attributes, channel, reserve },
          });
    const op = envelope.op ?? "unknown";
    metrics.websocketRequests.inc({ op: knownOps.has(op) ? op : "unknown", status });
    logger.debug({ requestId: truncate(requestId), op: truncate(op), status, tenant, principal: name, attributes }, "bridge request");
    return text;
  }

  return (frame: Frame, context: FrameContext): Promise<string> => answer(frame, context).finally(context.values.release);
}

const toFaultResponse = (fault: EnvelopeFault | BridgeError): OpResponse =>
  fault instanceof BridgeError ? toErrorResponse(fault) : { status: 400, payload: { error: fault } };

/** Encodes a response. Throws TypeError if the handler did not return one. */
function encode(requestId: string, { status, payload }: OpResponse): { status: number; text: string } {
  if (!Number.isInteger(status) || typeof payload !== "object" || payload === null)
    throw new TypeError("The handler did not return a valid response.");
  return { status, text: stringifyWellFormed({ requestId, status, payload }) };
}
