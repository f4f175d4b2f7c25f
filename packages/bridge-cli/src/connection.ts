import { type BridgeClient, createBridgeClient, parseExactJson } from "bridge-client";
import type { FoundConnection } from "./find-connection.ts";
import type { Output } from "./output.ts";

/** A Bridge and its clients. */
export interface Connection extends FoundConnection {
  /** For single calls: gives up soon, because a person waits. */
  client: BridgeClient;
  /** For waiting and following: retries without end, also across restarts of Bridge. */
  follower: BridgeClient;
}

/** Long enough for the restart of a load balancer's target, and short enough for a person who waits. */
const PATIENCE_MS = 2_000;
const RETRY_DELAY_MS = 250;

/** Creates the clients of a Bridge. While the connection of the follower is lost, the output reports it once. */
export function createConnection(found: FoundConnection, output: Output): Connection {
  const { url, token } = found;
  let isLost = false;
  const watchedFetch: typeof fetch = async (input, init) => {
    try {
      const response = await fetch(input, init);
      if (isLost) output.note("Reconnected.");
      isLost = false;
      return response;
    } catch (error) {
      if (!isLost && init?.signal?.aborted !== true) output.note(`Lost the connection to ${url}; trying again.`);
      isLost = true;
      throw error;
    }
  };
  // `bridge` prints integers above 2^53 with all their digits.
  // A script can start Bridge just before, and a task can outlive the address.
  const common = { url, token, parseJson: parseExactJson, waitsForStart: true };
  return {
    ...found,
    client: createBridgeClient({ ...common, patienceMs: PATIENCE_MS, retryDelayMs: RETRY_DELAY_MS }),
    follower: createBridgeClient({ ...common, patienceMs: Number.POSITIVE_INFINITY, fetch: watchedFetch }),
  };
}
