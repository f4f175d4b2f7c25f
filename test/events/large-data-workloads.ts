import { encodeEventData } from "../../src/events/encode-event-data.ts";

/** The number of fields of the data, which is larger than an event may be. */
export const FIELDS = 49_900;

const data = Object.fromEntries(Array.from({ length: FIELDS }, (_, index) => [`${(index * 7919) % 49_999}`.padStart(7, "k"), 1]));

/** Encodes the fields as the data, and as a value in it. */
export const workloads = { data: () => void encodeEventData(data), value: () => void encodeEventData({ output: data }) };
