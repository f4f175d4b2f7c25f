/** The header contains whole seconds, and a server may renew it only once per second. */
const RESOLUTION_MS = 2_000;

let offsetMs = 0;

/**
 * Learns the time of Bridge from a response, because the clock of the browser can be wrong. The known difference stays as long as it is
 * possible.
 */
export function noteServerTime(date: string | null, sentAt: number, receivedAt: number): void {
  const at = Date.parse(date ?? "");
  if (Number.isNaN(at)) return;
  const [least, most] = [at - receivedAt, at + RESOLUTION_MS - sentAt];
  if (offsetMs < least || offsetMs > most) offsetMs = (least + most) / 2;
}

/** Returns the time of Bridge in milliseconds, with which ages and time limits are compared. */
export const serverNow = (): number => Date.now() + offsetMs;
