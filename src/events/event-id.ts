/** The log that an event belongs to, and its number there. Number 0 is the position before the first event. */
export interface EventId {
  epoch: string;
  number: number;
}

/** Formats an event id for the wire: `<epoch>-<number>`. */
export const formatEventId = ({ epoch, number }: EventId): string => `${epoch}-${number}`;

/** Parses an event id; null if it is malformed. */
export function parseEventId(text: string): EventId | null {
  const [, epoch, digits] = /^([A-Za-z0-9]{1,64})-(0|[1-9]\d{0,15})$/.exec(text) ?? [];
  const number = Number(digits);
  return epoch === undefined || !Number.isSafeInteger(number) ? null : { epoch, number };
}
