/** The contract between Bridge and its adapters: types, schemas, guards and the format of a conversation. Contains no I/O. */
export * from "./adapter.ts";
export * from "./byte-order-mark.ts";
export * from "./catalog.ts";
export * from "./conversation.ts";
export * from "./events.ts";
export * from "./exact-json.ts";
export * from "./execution.ts";
export * from "./input.ts";
export * from "./json-counter.ts";
export * from "./json-object.ts";
export * from "./managers.ts";
export * from "./settings.ts";
export * from "./spending.ts";
export * from "./well-formed-json.ts";
