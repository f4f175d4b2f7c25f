import { isDamage } from "./damage.ts";

/** The recorded faults of one database file. */
export interface StorageFaults {
  /** Callers cannot write to a damaged file, because their data may be lost. */
  readonly isDamaged: boolean;
  /** Records a fault, and reports it to the operator. */
  note(error: unknown): void;
}

/** Creates the record of faults, which passes each fault to `onFault`. */
export function createStorageFaults(onFault: (error: unknown) => void): StorageFaults {
  let isDamaged = false;
  return {
    get isDamaged() {
      return isDamaged;
    },
    note(error) {
      isDamaged ||= isDamage(error);
      onFault(error);
    },
  };
}

const faultCodes = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|NOMEM|CANTOPEN|CORRUPT|NOTADB|PROTOCOL)/;

/** Whether an error is a fault of the disk or of the database file, and not of a statement. */
export function isStorageFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && faultCodes.test(String(error.code));
}
