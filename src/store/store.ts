import type { SessionStore, TicketStore } from "./access/interface.ts";
import type { ApprovalStore } from "./approvals/interface.ts";
import type { AttentionStore } from "./attention/interface.ts";
import type { BudgetStore } from "./budgets/interface.ts";
import type { EventStore } from "./events/interface.ts";
import type { DeletionStore, MaintenanceStore } from "./maintenance/interface.ts";
import type { CallbackStore, WebhookStore } from "./posts/interface.ts";
import type { RepositoryStore } from "./repositories/interface.ts";
import type { TaskStore } from "./tasks/interface.ts";
import type { TraceStore } from "./traces/interface.ts";
import type { UsageStore } from "./usage/interface.ts";

/**
 * The data that Bridge stores. The name of an operation contains its guard, for example `IfQueued`. If the guard does not hold, the result
 * is null or false, not an error. Writes resolve when they are durable. The store's clock determines all times.
 */
export interface Store
  extends TaskStore,
    EventStore,
    CallbackStore,
    WebhookStore,
    TraceStore,
    ApprovalStore,
    AttentionStore,
    RepositoryStore,
    DeletionStore,
    UsageStore,
    BudgetStore,
    TicketStore,
    SessionStore,
    MaintenanceStore {}
