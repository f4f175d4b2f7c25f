import { progressColumns as sharedColumns } from "./rows.ts";
import { summaryColumns } from "./summary.ts";

/** The columns of `toTaskProgress`, which include the node. */
const progressColumns = `${sharedColumns}, node`;

/** The columns of `toTaskProgress` with the times by the clock of the node, which is the clock of its files. */
export const timedColumns = `${progressColumns}, ran_from, ran_to`;

/** The columns of `toListedTask`, which include the node. */
export const listedColumns = `${progressColumns}, metadata, ${summaryColumns}`;

/** The columns of `toTask`. A statement names its columns: after a migration adds one, a prepared `SELECT *` fails. */
export const taskColumns = `${listedColumns}, parent_seq, request, fingerprint, traceparent, tracestate, restarts, result, result_gaps`;
