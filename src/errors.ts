/** The error codes of rejected requests. The list is complete: no other code is ever sent. */
export const errorCodes = {
  invalid_request: { httpStatus: 400, title: "Invalid request" },
  unauthenticated: { httpStatus: 401, title: "Unauthenticated" },
  scope_missing: { httpStatus: 403, title: "Scope missing" },
  not_found: { httpStatus: 404, title: "Not found" },
  not_supported: { httpStatus: 404, title: "Not supported" },
  method_not_allowed: { httpStatus: 405, title: "Method not allowed" },
  not_acceptable: { httpStatus: 406, title: "Not acceptable" },
  too_slow: { httpStatus: 408, title: "Request too slow" },
  task_conflict: { httpStatus: 409, title: "Task conflict" },
  already_decided: { httpStatus: 409, title: "Already decided" },
  already_delivered: { httpStatus: 409, title: "Already delivered" },
  invalid_state: { httpStatus: 409, title: "Invalid state" },
  stale_write: { httpStatus: 409, title: "Stale write" },
  too_large: { httpStatus: 413, title: "Too large" },
  unsupported_media_type: { httpStatus: 415, title: "Unsupported media type" },
  range_not_satisfiable: { httpStatus: 416, title: "Range not satisfiable" },
  unknown_provider: { httpStatus: 422, title: "Unknown provider" },
  capability_missing: { httpStatus: 422, title: "Capability missing" },
  callback_url_refused: { httpStatus: 422, title: "Callback URL refused" },
  mcp_refused: { httpStatus: 422, title: "MCP server refused" },
  budget_too_small: { httpStatus: 422, title: "Budget too small" },
  profile_conflict: { httpStatus: 422, title: "Profile conflict" },
  resume_unknown: { httpStatus: 422, title: "Resume token unknown" },
  unknown_repository: { httpStatus: 422, title: "Unknown repository" },
  unknown_ref: { httpStatus: 422, title: "Unknown ref" },
  push_refused: { httpStatus: 422, title: "Push refused" },
  upgrade_required: { httpStatus: 426, title: "Upgrade required" },
  budget_exhausted: { httpStatus: 429, title: "Budget exhausted" },
  too_many_requests: { httpStatus: 429, title: "Too many requests" },
  headers_too_large: { httpStatus: 431, title: "Headers too large" },
  internal_error: { httpStatus: 500, title: "Internal error" },
  queue_full: { httpStatus: 503, title: "Queue full" },
  adapter_offline: { httpStatus: 503, title: "Adapter offline" },
  draining: { httpStatus: 503, title: "Draining" },
  overloaded: { httpStatus: 503, title: "Overloaded" },
  storage_unavailable: { httpStatus: 503, title: "Storage unavailable" },
  node_unavailable: { httpStatus: 503, title: "Node unavailable" },
  loop_detected: { httpStatus: 508, title: "Loop detected" },
} as const;
export type ErrorCode = keyof typeof errorCodes;

/** A fault of one field: its dotted path, and a message with the correction. */
export interface FieldError {
  path: string;
  message: string;
}

/** Maximum number of reported field errors. A body of 8 MiB could have hundreds of thousands. */
export const MAX_FIELD_ERRORS = 100;

/** The queues that can be full: that of Bridge, of a tenant, or of an agent. */
export const queueOwners = ["bridge", "tenant", "agent"] as const;
export type QueueOwner = (typeof queueOwners)[number];

/** A rejected request. Clients see the message, so it contains no path, stack or SQL. */
export class BridgeError extends Error {
  override readonly name = "BridgeError";
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[];
  /** Seconds until a retry makes sense. Every 503 has a value. */
  readonly retryAfterSeconds: number | null;
  /** The full queue, with `queue_full` only. */
  readonly queue: QueueOwner | null;

  constructor(
    code: ErrorCode,
    detail: string,
    options: { errors?: readonly FieldError[]; retryAfterSeconds?: number; queue?: QueueOwner | null; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.errors = (options.errors ?? []).slice(0, MAX_FIELD_ERRORS);
    this.queue = options.queue ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (errorCodes[code].httpStatus === 503 ? 5 : null);
  }

  get httpStatus(): number {
    return errorCodes[this.code].httpStatus;
  }
}

/** Bridge cannot start. The message contains what the operator can do. */
export class StartError extends Error {
  override readonly name: string = "StartError";
}

/** A running Bridge or existing data is in the way. */
export class ConflictError extends StartError {
  override readonly name = "ConflictError";
}

/** There is no database yet. */
export class NoDatabaseError extends StartError {
  override readonly name = "NoDatabaseError";
}

/** Bridge must stop. The message contains what the operator can do. */
export class StopError extends Error {
  override readonly name = "StopError";
}

/** All faults of the configuration, one per line. */
export class ConfigError extends StartError {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.faults = faults;
  }
}
