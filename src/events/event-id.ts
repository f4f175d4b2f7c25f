/** What an event id names: the log it belongs to, and its place there. Number 0 stands before the first event. */
export interface EventId {
  epoch: string;
  number: number;
}

/** `<epoch>-<number>`, as it goes over the wire. */
export const formatEventId = (epoch: string, number: number): string => `${epoch}-${number}`;

/** Reads an event id; null when it is malformed. */
export function parseEventId(text: string): EventId | null {
  const [, epoch, digits] = /^([A-Za-z0-9]{1,64})-(0|[1-9]\d{0,15})$/.exec(text) ?? [];
  const number = Number(digits);
  return epoch === undefined || !Number.isSafeInteger(number) ? null : { epoch, number };
}
