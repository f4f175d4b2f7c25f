"""Client of Bridge: dispatch tasks, follow their events over restarts, decide approvals, verify callbacks."""

from .async_client import AsyncBridgeClient
from .client import BridgeClient
from .errors import BridgeClientError, FieldError
from .events import BridgeEvent, EventFilter, Gap
from .verification import verify_callback, verify_webhook
from .wire import (
    AcceptedTask,
    Adapter,
    Approval,
    Callback,
    CallbackBody,
    CallbackDetails,
    DispatchCheck,
    DispatchedTask,
    DispatchRequest,
    Domain,
    ExecutionResult,
    Identity,
    ListedTask,
    NormalizedUsage,
    Task,
    TaskDiff,
    TaskFile,
    TaskFilter,
    TaskState,
    WebhookBody,
)

__all__ = [
    "AcceptedTask",
    "Adapter",
    "Approval",
    "AsyncBridgeClient",
    "BridgeClient",
    "BridgeClientError",
    "BridgeEvent",
    "Callback",
    "CallbackBody",
    "CallbackDetails",
    "DispatchCheck",
    "DispatchRequest",
    "DispatchedTask",
    "Domain",
    "EventFilter",
    "ExecutionResult",
    "FieldError",
    "Gap",
    "Identity",
    "ListedTask",
    "NormalizedUsage",
    "Task",
    "TaskDiff",
    "TaskFile",
    "TaskFilter",
    "TaskState",
    "WebhookBody",
    "verify_callback",
    "verify_webhook",
]
