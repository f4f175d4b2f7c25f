/** Contact is broken when a renewal fails or is this late, or when the clock of the database jumps by as much; as a part of the lease. */
const MAX_GAP = 1 / 4;

/** A change of the system clock relative to the monotonic clock that is noticed. A suspended machine causes one. */
const JUMP_MS = 1_000;

/** A point in time by both clocks, in ms. */
export interface Moment {
  /** The monotonic clock, which changes of the system clock do not affect. It may stand still while the machine is suspended. */
  monotonic: number;
  /** The system clock. */
  wall: number;
}

/** Reads both clocks. */
export const readClocks = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

/** Creates the record of when the database has confirmed the lease of this node. */
export function createDatabaseContact(leaseMs: number) {
  let last = readClocks();
  /** When the unbroken contact began, by the monotonic clock. */
  let unbrokenSince = last.monotonic;
  let databaseClock: number | null = null;
  /** Whether the machine may have been suspended since the last contact. */
  let mayHaveSlept = false;
  /** The last look at the clocks. */
  let seen = last;

  return {
    /** When the last successful renewal was sent. */
    last: (): Moment => last,
    /** The node has joined the cluster. */
    begin(): void {
      last = readClocks();
      seen = last;
      unbrokenSince = last.monotonic;
    },
    /** A renewal has failed. */
    break(): void {
      unbrokenSince = Number.POSITIVE_INFINITY;
    },
    /** A renewal has succeeded; `answer` is the clock of the database. */
    confirm(sent: Moment, answer: number): void {
      const gapMs = sent.monotonic - last.monotonic;
      const jumpMs = databaseClock === null ? 0 : Math.abs(answer - databaseClock - gapMs);
      const isBroken = unbrokenSince === Number.POSITIVE_INFINITY || gapMs > leaseMs * MAX_GAP || jumpMs > leaseMs * MAX_GAP;
      if (isBroken) unbrokenSince = sent.monotonic;
      last = sent;
      databaseClock = answer;
      mayHaveSlept = false;
    },
    /** Looks at the clocks. Returns the time since the last contact, and whether the system clock has jumped since the last look. */
    look(): { silentMs: number; now: number; hasJumped: boolean } {
      const now = readClocks();
      const jumpMs = now.wall - seen.wall - (now.monotonic - seen.monotonic);
      seen = now;
      if (jumpMs > JUMP_MS) mayHaveSlept = true;
      return { silentMs: now.monotonic - last.monotonic, now: now.monotonic, hasJumped: Math.abs(jumpMs) > JUMP_MS };
    },
    /** The time since the last contact if the machine may have been suspended since; else 0. Only the system clock shows it. */
    silentWithSuspensionMs: (): number => (mayHaveSlept ? readClocks().wall - last.wall : 0),
    /** Whether this node has reached the database for a whole lease without a break. */
    isUnbroken: (): boolean => performance.now() - unbrokenSince >= leaseMs,
  };
}
