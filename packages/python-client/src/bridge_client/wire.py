"""The JSON of the API, with its own field names. Times are ISO 8601 in UTC. Later versions of Bridge can add fields and values."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

#: States of tasks; the last three are final.
TaskState = Literal["queued", "running", "completed", "failed", "cancelled"]
ApprovalState = Literal["pending", "approved", "rejected"]
ApprovalDecision = Literal["approve", "reject"]
CallbackState = Literal["pending", "delivered", "dead"]


def is_final(state: TaskState) -> bool:
    """Returns whether a task in this state has ended."""
    return state not in ("queued", "running")


class _DispatchFile(TypedDict):
    #: Relative to the workspace, with slashes.
    path: str
    content: str


class DispatchFile(_DispatchFile, total=False):
    """A file that a dispatch writes to the workspace."""

    #: How `content` encodes the bytes of the file. Default: utf8.
    encoding: Literal["utf8", "base64"]


class TaskBudget(TypedDict, total=False):
    """The maximum that a task and its child tasks may spend together. At least one maximum is required."""

    #: US dollars.
    maxCostUsd: float
    maxTokens: int
    #: At the maximum, the task fails with `budget_exceeded` (stop, the default), or waits for an approval.
    onReached: Literal["stop", "ask"]
    #: Without a price of the model, the reservation counts as spent (reserve, the default), or the dispatch is rejected.
    onUnknownCost: Literal["reserve", "refuse"]


class Budget(TypedDict):
    """A budget of the operator, with what is spent of it in the current period."""

    name: str
    #: The tasks to which it applies: `tenant`, `agentId`, `provider`, `model`, `token`, `label.<name>`. Empty: all.
    scope: dict[str, str]
    #: task, hour, day or month.
    per: str
    #: None if it limits each task alone.
    periodStart: Optional[str]
    periodEnd: Optional[str]
    maxCostUsd: Optional[float]
    maxTokens: Optional[int]
    #: Includes `estimatedUsd`.
    spentUsd: float
    spentTokens: int
    #: What running tasks may still spend.
    reservedUsd: float
    reservedTokens: int
    #: The part of `spentUsd` that is a guess, because the cost of its tasks is unknown.
    estimatedUsd: float
    #: Queued tasks for which the budget has no room.
    waitingTasks: int
    #: ok, warning or reached.
    state: str


class _AskedRepository(TypedDict):
    #: As the operator has set it.
    name: str


class AskedRepository(_AskedRepository, total=False):
    """The repository of which a task gets a separate work tree."""

    #: Branch, tag or full commit id at which the task begins. Default: the ref that the operator has set.
    ref: str
    #: Default: bridge/<taskId>.
    branch: str
    #: What remains after the task: the branch (the default), the diff without the branch, or nothing.
    keep: Literal["branch", "diff", "none"]
    #: Whether Bridge pushes the branch to the source of the repository. Default: False.
    push: bool


class _DispatchRequest(TypedDict):
    agentId: str


class DispatchRequest(_DispatchRequest, total=False):
    """A task to run. Bridge rejects unknown fields, so that a typo does not go unnoticed."""

    #: Id of the task, chosen by the caller: a repeated id refers to the same task. Default: the client creates one.
    taskId: str
    #: The adapter; optional when only one is loaded.
    provider: str
    #: The work. Required, unless `bridgeInput` or `responderInput` is given.
    message: str
    stdin: str
    systemPrompt: str
    model: str
    #: In the format of OpenAI, Anthropic or MCP.
    tools: list[dict[str, Any]]
    mcpServers: list[dict[str, Any]]
    #: Written to the workspace before the task starts: at most 100 files, 1 MiB in total.
    files: list[DispatchFile]
    #: The task runs in a separate work tree of this repository.
    repository: AskedRepository
    #: Time limit from the start of the task. Default: 600.
    timeoutSeconds: float
    #: The maximum that the task and its child tasks may spend together.
    budget: TaskBudget
    #: `{"type": "stream"}`, `{"type": "file", "path": …}` or `{"type": "structured", "schema": …}`.
    outputStrategy: dict[str, Any]
    #: Shorthand for an `outputStrategy` of type `structured`.
    outputSchema: dict[str, Any]
    #: Continues a session.
    resumeToken: str
    #: Whether the task may change the project. Default: inspect, read-only.
    profile: Literal["inspect", "modify"]
    #: What Bridge does when the runtime requests approval of a tool call.
    approvals: Literal["ask", "deny", "allow"]
    #: What Bridge does with a task that was interrupted by a crash of Bridge; `retry` runs it at most once more.
    onInterrupt: Literal["fail", "retry"]
    #: Adapters on which the task runs if its adapter cannot run it, or if the vendor of its model rejects calls: at most 4
    #: with `provider` and optionally `model`.
    fallbacks: list[dict[str, str]]
    #: `{"max": 2, "on": ["rate_limited", "model_error"]}`: how often the adapter is tried again after these errors.
    retry: dict[str, Any]
    #: wait: return to the queue if a usage limit rejects calls, until it is reset.
    whenLimited: Literal["fail", "wait"]
    waitSeconds: int
    #: Tags that the node which runs the task must have; `node:<name>` names one node. At most 16.
    runsOn: list[str]
    #: At most 16 labels, by which lists can be filtered.
    labels: dict[str, str]
    callbackUrl: str
    #: False omits `conversationMessages` from the callback.
    callbackConversation: bool
    #: Opaque to Bridge and returned unchanged.
    metadata: dict[str, Any]
    bridgeInput: dict[str, Any]
    responderInput: dict[str, Any]


class AcceptedRepository(TypedDict):
    """The repository of an accepted task."""

    name: str
    ref: str
    branch: str
    #: The commit from which the task starts. None if the fetch took too long or failed; then the task fetches again when it
    #: starts.
    baseCommit: Optional[str]


class AcceptedTask(TypedDict):
    """Response to a dispatch."""

    taskId: str
    provider: str
    agentId: str
    state: TaskState
    createdAt: str
    #: None if the task gets no separate work tree.
    repository: Optional[AcceptedRepository]


class DispatchedTask(AcceptedTask):
    """A dispatched task."""

    #: Whether the task existed before.
    replayed: bool


class CheckedTask(TypedDict):
    """The task that a dispatch would create."""

    provider: str
    agentId: str
    #: Whether the dispatch repeats an earlier one, so that it starts nothing.
    replayed: bool
    connection: Optional[str]
    #: Queued tasks of the adapter, of all tenants. Tenants take turns.
    queueAhead: int
    #: `model`, `profile`, `approvals` and `timeoutSeconds` after defaults were applied.
    resolved: dict[str, Any]
    #: `roles` and `runtimes` that would answer; None if the adapter is no council. Missing in earlier versions of Bridge.
    council: Optional[dict[str, Any]]
    warnings: list[str]


class DispatchCheck(TypedDict):
    """What a dispatch would do."""

    #: Status that the dispatch would get.
    wouldAnswer: int
    #: The body of that response; None if the dispatch would be accepted.
    problem: Optional[dict[str, Any]]
    #: None if the dispatch would be rejected.
    task: Optional[CheckedTask]


class _NormalizedUsage(TypedDict):
    #: All prompt tokens, cached ones included.
    inputTokens: int
    #: All generated tokens, thinking included.
    outputTokens: int


class NormalizedUsage(_NormalizedUsage, total=False):
    """Token usage of one task. An absent field is unknown, not 0."""

    thinkingTokens: int
    cacheReadTokens: int
    cacheWriteTokens: int
    #: The part of cacheWriteTokens that is kept for an hour.
    cacheWrite1hTokens: int


class _ConversationMessage(TypedDict):
    role: Literal["user", "assistant", "tool"]
    content: str


class ConversationMessage(_ConversationMessage, total=False):
    """One message of the conversation of a task."""

    toolCalls: list[dict[str, Any]]
    toolCallId: str


class _ExecutionResult(TypedDict):
    status: Literal["ok", "error"]
    durationMs: float
    #: How the adapter reached its runtime.
    connection: str


class Attempt(TypedDict):
    """An attempt of a task, or a candidate that was skipped."""

    number: int
    provider: str
    #: None for the default of the runtime.
    model: Optional[str]
    #: None if the candidate was skipped.
    startedAt: Optional[str]
    #: None if the attempt succeeded or was skipped.
    errorCode: Optional[str]
    #: Why the attempt failed, or why the candidate was skipped.
    reason: Optional[str]
    usage: Optional[NormalizedUsage]
    costUsd: Optional[float]


class _RepositoryOutcome(TypedDict):
    name: str
    branch: str
    #: None if no tree was created.
    baseCommit: Optional[str]
    #: The commit that contains all changes.
    headCommit: Optional[str]
    commits: int
    files: int
    insertions: int
    deletions: int
    pushed: bool
    conflicts: None


class RepositoryOutcome(_RepositoryOutcome, total=False):
    """What a task has changed in its work tree of a repository."""

    #: Why a requested push failed.
    pushError: str
    #: Why the changes are not stored completely.
    error: str


class ExecutionResult(_ExecutionResult, total=False):
    """Result of a task."""

    output: str
    #: With the output strategy `structured`: the requested object. With `file`: path, bytes and sha256, and
    #: `encoding: "base64"` if the file is not UTF-8.
    outputs: dict[str, Any]
    usage: NormalizedUsage
    costUsd: float
    #: runtime: its own figure. priced: at least in part, tokens multiplied by a price.
    costSource: str
    model: str
    resumeToken: str
    conversationMessages: list[ConversationMessage]
    errorCode: str
    error: str
    #: Absent if the dispatch has neither fallbacks nor retry.
    attempts: list[Attempt]
    #: Absent if the task has no separate work tree.
    repository: RepositoryOutcome


class CallbackDelivery(TypedDict):
    """The delivery of the callback of a listed task."""

    state: CallbackState
    url: str
    attempts: int
    nextAttemptAt: Optional[str]
    lastStatus: Optional[int]
    lastError: Optional[str]


class TaskRepository(TypedDict):
    """The repository of which a task has a separate work tree. None until the task ends, except for the base."""

    name: str
    branch: str
    #: None until it is known.
    baseCommit: Optional[str]
    #: The commit that contains all changes.
    headCommit: Optional[str]
    commits: Optional[int]
    files: Optional[int]
    insertions: Optional[int]
    deletions: Optional[int]
    pushed: Optional[bool]
    pushError: Optional[str]
    #: Why the changes are not stored completely.
    error: Optional[str]


class ListedTask(TypedDict):
    """A task in a list."""

    taskId: str
    parentTaskId: Optional[str]
    provider: str
    agentId: str
    state: TaskState
    #: queue, quota, approval or runtime.
    waitingOn: Optional[str]
    #: What a queued task waits for: slot, session, quota, node or tag.
    queuedBecause: Optional[str]
    #: Names of the budgets without room, if the task waits for one.
    waitingForBudgets: list[str]
    #: Name of the node that runs or ran the task, or of the only one that may start it; None with SQLite.
    node: Optional[str]
    #: The first line of the message, at most 120 characters.
    title: Optional[str]
    #: The model that ran the task; until the task ends, the requested one.
    model: Optional[str]
    usage: Optional[NormalizedUsage]
    costUsd: Optional[float]
    #: runtime or priced; None if the cost is unknown.
    costSource: Optional[str]
    errorCode: Optional[str]
    #: The attempts that have ended, and the candidates that were skipped. Empty without fallbacks and retry.
    attempts: list[Attempt]
    labels: dict[str, str]
    createdAt: str
    startedAt: Optional[str]
    finishedAt: Optional[str]
    lastProgressAt: Optional[str]
    callback: Optional[CallbackDelivery]
    metadata: Optional[dict[str, Any]]
    #: Number of child tasks, without their child tasks.
    childCount: int
    #: None if the task has no separate work tree.
    repository: Optional[TaskRepository]


class Task(ListedTask):
    """A task with its result."""

    #: None until the task has ended.
    result: Optional[ExecutionResult]


class CancelledTask(TypedDict):
    """Response to the cancellation of a task."""

    taskId: str
    state: TaskState


class TaskFilter(TypedDict, total=False):
    """Selects tasks."""

    state: Union[TaskState, Literal["canceled"]]
    provider: str
    agentId: str
    parentTaskId: str
    errorCode: str
    #: The state of their callback.
    callback: CallbackState
    #: `approval`: tasks with a tool call that waits for approval.
    waitingOn: Literal["approval"]
    #: ISO 8601 with a time zone.
    createdAfter: str
    createdBefore: str
    finishedAfter: str
    finishedBefore: str
    idPrefix: str
    #: A task with all tasks below it; `*` for tasks without a parent.
    root: str
    #: A label that they have, as `name=value`.
    label: str
    #: A text that their title contains, whatever the case of its ASCII letters.
    q: str
    #: A text with which their id begins, that their title or agent contains, or the beginning of a label as `name=value`.
    search: str


class BudgetQuestion(TypedDict):
    """The `input` of an approval of the kind `budget`. None: unknown, or no maximum."""

    spentUsd: Optional[float]
    maxCostUsd: Optional[float]
    spentTokens: Optional[int]
    maxTokens: Optional[int]


class Approval(TypedDict):
    """A tool call, or a task at the maximum of its budget, that waits or waited for approval."""

    approvalId: str
    #: tool or budget. More kinds may follow. Missing in earlier versions of Bridge.
    kind: str
    taskId: str
    agentId: str
    provider: str
    #: The first line of the task's message; None if it has none.
    title: Optional[str]
    #: Unique within the task. The id of the approval for a budget.
    toolCallId: str
    #: `budget` for a budget.
    toolName: str
    #: The input of the tool, or a `BudgetQuestion`.
    input: Any
    #: Whether the input is cut.
    inputTruncated: bool
    #: The working directory of the task, relative to its workspace; None if it is the workspace.
    cwd: Optional[str]
    state: ApprovalState
    createdAt: str
    #: Without a decision the call is rejected at this time. None if it waits without a time limit.
    expiresAt: Optional[str]
    decidedBy: Optional[str]
    reason: Optional[str]
    #: By how many US dollars the approval has raised the maximum of a budget; None if it has not. Missing in earlier versions.
    raiseByUsd: Optional[float]


class ApprovalFilter(TypedDict, total=False):
    """Selects approvals."""

    state: ApprovalState
    #: Only approvals of this task.
    taskId: str
    #: Which approvals come first. The default is the newest.
    order: Literal["newest", "oldest"]


class Callback(TypedDict):
    """The delivery of a task's result to its `callbackUrl`."""

    taskId: str
    url: str
    state: CallbackState
    #: Number of attempts, including those before a redelivery.
    attempts: int
    nextAttemptAt: Optional[str]
    lastStatus: Optional[int]
    lastError: Optional[str]
    updatedAt: str


class CallbackFilter(TypedDict, total=False):
    """Selects callbacks."""

    state: CallbackState


class CallbackAttempt(TypedDict):
    """One POST of a callback."""

    #: Position among all attempts, beginning with 1.
    number: int
    at: str
    #: None without a response.
    status: Optional[int]
    #: None if the attempt delivered the callback.
    error: Optional[str]
    durationMs: int
    #: The first 1 KiB of the response body; None without a response. The receiver determines it: show it as text.
    response: Optional[str]
    responseTruncated: bool


class CallbackDetails(Callback):
    """A callback with its last attempts."""

    #: `task`: the task has not ended, and the first attempt starts when it ends.
    waitingOn: Optional[str]
    #: At most 20, the oldest first.
    history: list[CallbackAttempt]


class CallbackBody(ExecutionResult):
    """Body of a callback: the result of the task and the fields that identify it."""

    taskId: str
    agentId: str
    provider: str
    metadata: Optional[dict[str, Any]]
    finishedAt: str


class WebhookBody(TypedDict):
    """Body of a webhook: an event, and where to look in the console."""

    type: str
    timestamp: str
    #: `provider` and `url`; the other fields depend on the type.
    data: dict[str, Any]


class Identity(TypedDict):
    """The name, tenant and scopes of a token."""

    name: str
    tenant: str
    scopes: list[str]
    #: None if the token never expires.
    expiresAt: Optional[str]
    #: Whether Bridge signs callbacks. Missing in earlier versions of Bridge.
    signsCallbacks: bool


class TaskFile(TypedDict):
    """A file that a task left in its workspace."""

    #: Relative to the workspace.
    path: str
    bytes: int
    modifiedAt: str


class TaskDiff(TypedDict):
    """The changes of a git work tree since a task started."""

    #: The commit that was checked out when the task started.
    commit: str
    #: Directory of the git work tree, relative to the workspace; empty for the workspace itself.
    directory: str
    #: The unified diff. Empty if nothing differs. U+FFFD replaces bytes that are not UTF-8.
    diff: str
    #: The exact bytes of the diff, in base64, if it is not UTF-8; None if `diff` contains them.
    diffBase64: Optional[str]
    #: Why the end of the diff is missing; None if the diff is complete.
    truncated: Optional[str]
    #: Files that are too large to be compared, relative to `directory`.
    omitted: list[str]


class RepositoryBranch(TypedDict):
    """The stored branch of a task."""

    name: str
    #: The last task that has changed the branch.
    taskId: str
    headCommit: str


class Repository(TypedDict):
    """A repository of which tasks can have a work tree."""

    name: str
    #: The branch, tag or commit from which tasks start by default.
    defaultRef: str
    #: Whether a dispatch may have `push`, with which Bridge pushes the branch to the source.
    push: bool
    #: None if the node that answers has not fetched it.
    lastFetchAt: Optional[str]
    #: The stored branches of tasks.
    branches: list[RepositoryBranch]


class PreflightStep(TypedDict):
    """One step of the check of an adapter."""

    step: str
    ok: bool
    detail: str


class AdapterHealth(TypedDict):
    """The health of an adapter."""

    status: Literal["healthy", "degraded", "offline"]
    connection: Optional[str]
    version: Optional[str]
    #: The file of the program; None if there is none. Missing in earlier versions of Bridge.
    path: Optional[str]
    detail: Optional[str]
    preflight: list[PreflightStep]
    #: None until the first health check.
    checkedAt: Optional[str]


class Adapter(TypedDict):
    """An adapter with its health, capabilities and load."""

    provider: str
    health: AdapterHealth
    capabilities: Optional[dict[str, Any]]
    running: int
    queued: int
    maxConcurrent: int
    #: Until when tasks that may run elsewhere or wait avoid the adapter, because the vendor of its model has rejected
    #: calls; None if they do not.
    cooldownUntil: Optional[str]
    #: None without a cooldown.
    cooldownReason: Optional[str]
    #: Names of the running nodes that have the adapter.
    nodes: list[str]


class Domain(TypedDict):
    """A domain for which councils have an expert."""

    name: str
    #: Title of the expert.
    expert: str
    focus: list[str]
    standards: list[str]
    #: None if the expert has no instructions beyond the focus and the standards.
    instructions: Optional[str]
    #: Words and phrases that make `deep-council` consider the domain for a task that contains them.
    signals: list[str]
    source: Literal["built-in", "workspace"]
