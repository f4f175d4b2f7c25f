import type { Store } from "../../src/store/store.ts";

/** Registers an action for the end of a test. */
export type AtEnd = (act: () => void | Promise<void>) => void;

/** The database of one data directory, for tests that run on every engine. */
export interface DatabaseSubject {
  /** The settings with which a Bridge uses the database. */
  settings: Readonly<Record<string, string>>;
  /** Opens its store. `clock` stands in for the clock of the engine. The caller closes the store. */
  openStore(options?: { clock?: (() => number) | undefined }): Promise<Store>;
  /** Runs a statement that both engines understand, and returns its rows. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  /** Makes all writes fail, while reads still work. Resolves with the function that ends this. */
  stopWrites(): Promise<() => Promise<void>>;
}
