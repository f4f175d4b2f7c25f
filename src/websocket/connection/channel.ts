import { createTurns } from "@hak2i/async-kit";
import type { Reservation } from "../../access/client-memory.ts";
import type { OpChannel } from "../op-protocol.ts";
import type { SendQueue } from "./send-queue.ts";

interface ChannelOptions {
  outgoing: SendQueue;
  /** Aborted when the socket has closed. */
  signal: AbortSignal;
  openReservation(): Reservation;
  /** Resolves when a read of the tenant may start; null if it may start at once. */
  takeTurn(): Promise<void> | null;
  isOpen(): boolean;
}

/** Creates the channel that pushes messages to a client at its pace: one read at a time, when the client has room and memory. */
export function createChannel({ outgoing, signal, openReservation, takeTurn, isOpen }: ChannelOptions): OpChannel {
  const pushes = createTurns();
  async function push(bytes: number, read: () => Promise<readonly string[]>): Promise<void> {
    await pushes.take("", async () => {
      while (outgoing.isFull() && !signal.aborted) await outgoing.waitUntilSent();
      if (signal.aborted) return;
      const reading = openReservation();
      const stop = (): void => reading.release();
      signal.addEventListener("abort", stop, { once: true });
      try {
        if (!(await isReserved(reading, bytes))) return;
        await takeTurn();
        for (const message of await read()) if (isOpen()) void outgoing.send(Buffer.from(message));
      } finally {
        signal.removeEventListener("abort", stop);
        stop();
      }
    });
    await outgoing.waitUntilSent();
  }
  return { push, signal };
}

/** Waits until the memory is available. Resolves to false if the reservation was released, because the connection has closed. */
const isReserved = (reservation: Reservation, bytes: number): Promise<boolean> =>
  reservation.reserve(bytes, Number.POSITIVE_INFINITY).then(
    () => true,
    () => false,
  );
