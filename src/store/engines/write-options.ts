/** How a write behaves while it waits for its commit. */
export interface WriteOptions {
  /** Bridge's own work: waits while the database accepts no writes, in order, instead of failing. */
  patient?: boolean;
  /** Approximate size of a large write, which limits what one commit contains. */
  bytes?: number;
}
