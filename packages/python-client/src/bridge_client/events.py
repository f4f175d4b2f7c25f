"""The events of a task. Data above 256 KiB is cut and has `truncated`."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

from .wire import NormalizedUsage


class _Event(TypedDict):
    #: `<epoch>-<number>`. Pass it as `after` to continue after this event.
    id: str
    taskId: str
    agentId: str
    provider: str
    #: ISO 8601, UTC.
    timestamp: str


class _Envelope(_Event, total=False):
    parentTaskId: str


class _Data(TypedDict, total=False):
    truncated: bool


class ExecutionStartedData(_Data):
    agentId: str


class ExecutionStartedEvent(_Envelope):
    type: Literal["execution.started"]
    data: ExecutionStartedData


class ExecutionAttemptData(_Data):
    number: int
    provider: str
    model: Optional[str]
    #: None if the candidate was skipped.
    errorCode: Optional[str]
    reason: Optional[str]
    #: `provider` and `model` of what is tried next; None if nothing is.
    next: Optional[dict[str, Optional[str]]]


class ExecutionAttemptEvent(_Envelope):
    """An attempt has failed, or a candidate was skipped, and others follow."""

    type: Literal["execution.attempt"]
    data: ExecutionAttemptData


class AssistantTextData(_Data):
    content: str


class AssistantTextEvent(_Envelope):
    """A part of the answer."""

    type: Literal["assistant.text"]
    data: AssistantTextData


class AssistantTextDiscardedData(_Data, total=False):
    reason: str


class AssistantTextDiscardedEvent(_Envelope):
    """The runtime discarded the text since the last tool event or the last discard."""

    type: Literal["assistant.text_discarded"]
    data: AssistantTextDiscardedData


class _ToolData(_Data):
    toolCallId: str
    toolName: str


class ToolInvokedData(_ToolData, total=False):
    input: Any


class ToolInvokedEvent(_Envelope):
    type: Literal["tool.invoked"]
    data: ToolInvokedData


class _ToolCompletedData(_ToolData):
    isError: bool


class ToolCompletedData(_ToolCompletedData, total=False):
    output: Any


class ToolCompletedEvent(_Envelope):
    type: Literal["tool.completed"]
    data: ToolCompletedData


class ExecutionProgressEvent(_Envelope):
    type: Literal["execution.progress"]
    data: dict[str, Any]


class Spent(TypedDict):
    """What a task has spent; None is unknown."""

    usage: Optional[NormalizedUsage]
    costUsd: Optional[float]
    costSource: Optional[str]


class _ModelCall(TypedDict):
    model: Optional[str]
    usage: Optional[NormalizedUsage]
    costUsd: Optional[float]
    #: In milliseconds since the epoch.
    startedAt: float
    durationMs: float
    #: The HTTP status; None if there was no response.
    status: Optional[int]


class ModelCall(_ModelCall, total=False):
    """One call of a model."""

    #: Whether the response broke off, so that the usage may be too low.
    incomplete: bool


class _UsageReportedData(_Data):
    model: Optional[str]
    usage: NormalizedUsage
    costUsd: Optional[float]
    costSource: Optional[str]
    total: Spent


class UsageReportedData(_UsageReportedData, total=False):
    #: The calls of the model, if Bridge saw each of them.
    calls: list[ModelCall]


class UsageReportedEvent(_Envelope):
    type: Literal["usage.reported"]
    data: UsageReportedData


class BudgetWarningData(_Data):
    budget: str
    share: float
    spentUsd: float
    maxCostUsd: Optional[float]
    spentTokens: int
    maxTokens: Optional[int]


class BudgetWarningEvent(_Envelope):
    type: Literal["budget.warning"]
    data: BudgetWarningData


class _ToolApprovalRequestedData(_ToolData):
    approvalId: str
    expiresAt: Optional[str]


class ToolApprovalRequestedData(_ToolApprovalRequestedData, total=False):
    input: Any
    #: tool or budget; absent in events of earlier versions.
    kind: str


class ToolApprovalRequestedEvent(_Envelope):
    type: Literal["tool.approval_requested"]
    data: ToolApprovalRequestedData


class _ToolApprovalResolvedData(_Data):
    approvalId: str
    toolCallId: str
    decision: Literal["approve", "reject"]
    by: str
    reason: Optional[str]


class ToolApprovalResolvedData(_ToolApprovalResolvedData, total=False):
    #: tool or budget; absent in events of earlier versions.
    kind: str
    #: By how many US dollars the maximum has grown; absent for tool calls.
    raiseByUsd: Optional[float]


class ToolApprovalResolvedEvent(_Envelope):
    type: Literal["tool.approval_resolved"]
    data: ToolApprovalResolvedData


class _UsageData(_Data, total=False):
    usage: NormalizedUsage
    costUsd: float
    costSource: str


class _ExecutionCompletedData(_UsageData):
    output: Optional[str]
    durationMs: float


class ExecutionCompletedData(_ExecutionCompletedData, total=False):
    #: A string if it was cut.
    outputs: Union[dict[str, Any], str]
    model: str
    #: Absent in events of earlier versions.
    connection: str


class ExecutionCompletedEvent(_Envelope):
    type: Literal["execution.completed"]
    data: ExecutionCompletedData


class _ExecutionFailedData(_UsageData):
    error: str
    durationMs: float


class ExecutionFailedData(_ExecutionFailedData, total=False):
    errorCode: str
    #: Absent in events of earlier versions.
    connection: str


class ExecutionFailedEvent(_Envelope):
    type: Literal["execution.failed"]
    data: ExecutionFailedData


class CallbackDeliveredData(_Data):
    attempts: int
    status: Optional[int]


class CallbackDeliveredEvent(_Envelope):
    type: Literal["callback.delivered"]
    data: CallbackDeliveredData


class CallbackDeadData(_Data):
    attempts: int
    lastStatus: Optional[int]
    lastError: Optional[str]


class CallbackDeadEvent(_Envelope):
    type: Literal["callback.dead"]
    data: CallbackDeadData


#: One event of a task. `type` determines the fields of `data`. Later versions of Bridge can add types: ignore them.
BridgeEvent = Union[
    ExecutionStartedEvent,
    ExecutionAttemptEvent,
    AssistantTextEvent,
    AssistantTextDiscardedEvent,
    ToolInvokedEvent,
    ToolCompletedEvent,
    ExecutionProgressEvent,
    UsageReportedEvent,
    BudgetWarningEvent,
    ToolApprovalRequestedEvent,
    ToolApprovalResolvedEvent,
    ExecutionCompletedEvent,
    ExecutionFailedEvent,
    CallbackDeliveredEvent,
    CallbackDeadEvent,
]


class EventFilter(TypedDict, total=False):
    """Selects events. An empty filter selects all events of the token's tenant."""

    taskId: str
    agentId: str
    provider: str
    types: list[str]
    #: ISO 8601. Start with the first event that was stored at this time or later, instead of with new events.
    since: str


class Gap(TypedDict):
    """Requested events have been deleted. The stream continues with the oldest stored event."""

    #: None when no event is stored.
    oldestId: Optional[str]
