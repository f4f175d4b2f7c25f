/** The contract between Bridge and its adapters: types, schemas and guards, no I/O. */
export * from "./adapter.ts";
export * from "./events.ts";
export * from "./execution.ts";
export * from "./managers.ts";
