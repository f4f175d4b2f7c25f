import { readFileSync } from "node:fs";
import path from "node:path";
import type {
  AcceptedTask,
  Adapter,
  Approval,
  ApprovalState,
  Attention,
  AttentionItem,
  BridgeEvent,
  Budget,
  Callback,
  CallbackBody,
  CallbackDetails,
  ConnectionKind,
  ConversationMessage,
  DispatchRequest,
  Domain,
  ExecutionResult,
  FieldError,
  Identity,
  ListedTask,
  NormalizedUsage,
  Repository,
  ServiceInfo,
  Task,
  TaskAgent,
  TaskDiff,
  TaskErrorCode,
  TaskFile,
  TaskFilter,
  TaskRequest,
  TaskState,
  Workspace,
} from "bridge-client";
import { describe, expect, expectTypeOf, test } from "vitest";
import { parse } from "yaml";
import type { z } from "zod";
import { buildCallback } from "../../../src/callbacks/callback-body.ts";
import type * as contract from "../../../src/contract/index.ts";
import {
  type AdapterEvent,
  type EventEnvelope,
  type EventType,
  executionResultSchema,
  type InputField,
} from "../../../src/contract/index.ts";
import type { budgetSchema } from "../../../src/http/routes/budgets.ts";
import type { approvalSchema } from "../../../src/http/routes/describe-approval.ts";
import type { callbackDetailsSchema, callbackSchema } from "../../../src/http/routes/describe-callback.ts";
import type { listedTaskSchema, taskSchema } from "../../../src/http/routes/describe-task.ts";
import type { Problem } from "../../../src/http/wire/problem.ts";
import type { createDescribedDispatchSchema } from "../../../src/requests/dispatch-schema.ts";

/** Compares the handwritten types of the client with those of the server. `npm run typecheck` fails if they differ. */
describe("the client's types are the server's", () => {
  test("tasks and results", () => {
    expectTypeOf<Task>().branded.toEqualTypeOf<z.infer<typeof taskSchema>>();
    expectTypeOf<ListedTask>().branded.toEqualTypeOf<z.infer<typeof listedTaskSchema>>();
    expectTypeOf<ExecutionResult>().branded.toEqualTypeOf<contract.ExecutionResult>();
    expectTypeOf<NormalizedUsage>().branded.toEqualTypeOf<contract.NormalizedUsage>();
    expectTypeOf<ConversationMessage>().branded.toEqualTypeOf<contract.ConversationMessage>();
    expectTypeOf<TaskErrorCode>().toEqualTypeOf<contract.TaskErrorCode>();
    expectTypeOf<ConnectionKind>().toEqualTypeOf<contract.Connection>();
    expectTypeOf<TaskState>().toEqualTypeOf<z.infer<typeof taskSchema>["state"]>();
    expectTypeOf<FieldError>().toEqualTypeOf<NonNullable<Problem["errors"]>[number]>();
  });

  test("approvals", () => {
    expectTypeOf<Approval>().branded.toEqualTypeOf<z.infer<typeof approvalSchema>>();
    expectTypeOf<ApprovalState>().toEqualTypeOf<z.infer<typeof approvalSchema>["state"]>();
  });

  test("budgets", () => {
    expectTypeOf<Budget>().branded.toEqualTypeOf<z.infer<typeof budgetSchema>>();
  });

  test("callbacks", () => {
    expectTypeOf<Callback>().branded.toEqualTypeOf<z.infer<typeof callbackSchema>>();
    expectTypeOf<CallbackDetails>().branded.toEqualTypeOf<z.infer<typeof callbackDetailsSchema>>();
  });

  test("events, of the same types and with the data that adapters give", () => {
    expectTypeOf<BridgeEvent["type"]>().toEqualTypeOf<EventType>();
    expectTypeOf<keyof BridgeEvent>().toEqualTypeOf<keyof EventEnvelope>();
    expectTypeOf<BridgeEvent>().toExtend<Omit<EventEnvelope, "data">>();
    type DataOf<Type extends AdapterEvent["type"]> = Extract<AdapterEvent, { type: Type }>["data"];
    type SeenOf<Type extends AdapterEvent["type"]> = Omit<Extract<BridgeEvent, { type: Type }>["data"], "truncated">;
    expectTypeOf<SeenOf<"assistant.text">>().branded.toEqualTypeOf<DataOf<"assistant.text">>();
    expectTypeOf<SeenOf<"tool.invoked">>().branded.toEqualTypeOf<DataOf<"tool.invoked">>();
    expectTypeOf<SeenOf<"tool.completed">>().branded.toEqualTypeOf<DataOf<"tool.completed">>();
  });

  test("a dispatch", () => {
    type Schema = ReturnType<typeof createDescribedDispatchSchema>;
    // The fields of adapters' inputs are known at run time only.
    type Known<T> = { [Field in keyof T as string extends Field ? never : Field extends InputField ? never : Field]: T[Field] };
    type Taken = Known<z.input<Schema>>;
    expectTypeOf<keyof Known<DispatchRequest>>().toEqualTypeOf<keyof Taken>();
    // The client does not type the four tool formats; Bridge validates them.
    expectTypeOf<Omit<Known<DispatchRequest>, "tools" | "mcpServers" | "labels">>().branded.toEqualTypeOf<
      Omit<Taken, "tools" | "mcpServers" | "labels">
    >();
    expectTypeOf<NonNullable<DispatchRequest["labels"]>>().toEqualTypeOf<NonNullable<z.infer<Schema>["labels"]>>();
    type Server = NonNullable<z.infer<Schema>["mcpServers"]>[number];
    expectTypeOf<NonNullable<DispatchRequest["mcpServers"]>[number]>().branded.toEqualTypeOf<Server>();
  });
});

/** All keys of a type. The compiler reports missing and extra keys. */
type Keys<T> = Record<keyof T, true>;
const keys = {
  AcceptedTask: {
    taskId: true,
    provider: true,
    agentId: true,
    state: true,
    createdAt: true,
    repository: true,
  } satisfies Keys<AcceptedTask>,
  Adapter: {
    provider: true,
    health: true,
    capabilities: true,
    running: true,
    queued: true,
    maxConcurrent: true,
    cooldownUntil: true,
    cooldownReason: true,
    nodes: true,
  } satisfies Keys<Adapter>,
  Dispatch: {
    ...{ taskId: true, provider: true, agentId: true, message: true, stdin: true, systemPrompt: true, model: true, tools: true },
    ...{ mcpServers: true, files: true, timeoutSeconds: true, outputStrategy: true, outputSchema: true, resumeToken: true },
    ...{
      profile: true,
      approvals: true,
      onInterrupt: true,
      fallbacks: true,
      retry: true,
      whenLimited: true,
      waitSeconds: true,
      callbackUrl: true,
      callbackConversation: true,
      metadata: true,
      runsOn: true,
      labels: true,
    },
    ...{ bridgeInput: true, responderInput: true, budget: true, repository: true },
  } satisfies Keys<DispatchRequest>,
  Budget: {
    ...{ name: true, scope: true, per: true, periodStart: true, periodEnd: true, maxCostUsd: true, maxTokens: true, spentUsd: true },
    ...{ spentTokens: true, reservedUsd: true, reservedTokens: true, estimatedUsd: true, waitingTasks: true, state: true },
  } satisfies Keys<Budget>,
  Domain: {
    ...{ name: true, expert: true, focus: true, standards: true, instructions: true, signals: true, source: true },
  } satisfies Keys<Domain>,
  Attention: { data: true, counts: true, receivers: true } satisfies Keys<Attention>,
  AttentionItem: {
    ...{ kind: true, id: true, at: true, taskId: true, agentId: true, provider: true, title: true, receiver: true, detail: true },
    ...{ acknowledgedBy: true, acknowledgedAt: true },
  } satisfies Keys<AttentionItem>,
  Identity: { name: true, tenant: true, scopes: true, expiresAt: true, signsCallbacks: true } satisfies Keys<Identity>,
  StoredDispatch: {
    ...{ taskId: true, provider: true, agentId: true, message: true, stdin: true, systemPrompt: true, model: true, tools: true },
    ...{ mcpServers: true, files: true, timeoutSeconds: true, outputStrategy: true, resumeToken: true, reasoningLevel: true },
    ...{
      profile: true,
      approvals: true,
      onInterrupt: true,
      fallbacks: true,
      retry: true,
      whenLimited: true,
      waitSeconds: true,
      callbackUrl: true,
      callbackConversation: true,
      metadata: true,
      runsOn: true,
      labels: true,
    },
    ...{ bridgeInput: true, responderInput: true, budget: true, repository: true },
  } satisfies Keys<TaskRequest["request"]>,
  TaskRequest: { request: true, masked: true } satisfies Keys<TaskRequest>,
  TaskAgent: { agentId: true, provider: true, tasks: true, lastActivityAt: true, node: true } satisfies Keys<TaskAgent>,
  TaskDiff: { commit: true, directory: true, diff: true, diffBase64: true, truncated: true, omitted: true } satisfies Keys<TaskDiff>,
  Repository: { name: true, defaultRef: true, push: true, lastFetchAt: true, branches: true } satisfies Keys<Repository>,
  TaskFile: { path: true, bytes: true, modifiedAt: true } satisfies Keys<TaskFile>,
  Workspace: { id: true, kind: true, agentId: true, tasks: true, updatedAt: true } satisfies Keys<Workspace>,
  ServiceInfo: { name: true, version: true, description: true, callbackRetries: true, links: true } satisfies Keys<ServiceInfo>,
};
const health: Keys<Adapter["health"]> = {
  status: true,
  connection: true,
  version: true,
  path: true,
  detail: true,
  preflight: true,
  checkedAt: true,
};
const filter: Keys<TaskFilter> = {
  ...{ state: true, provider: true, agentId: true, parentTaskId: true, errorCode: true, callback: true },
  ...{
    createdAfter: true,
    createdBefore: true,
    finishedAfter: true,
    finishedBefore: true,
    idPrefix: true,
    root: true,
    label: true,
    q: true,
    search: true,
    waitingOn: true,
  },
};
const callback: Keys<Omit<CallbackBody, keyof ExecutionResult>> = {
  taskId: true,
  agentId: true,
  provider: true,
  metadata: true,
  finishedAt: true,
};

interface ObjectSchema {
  properties: Record<string, ObjectSchema>;
}

describe("openapi.yaml has the same fields", () => {
  const { components, paths } = parse(readFileSync(path.resolve(import.meta.dirname, "../../../openapi.yaml"), "utf8")) as {
    components: { schemas: Record<string, ObjectSchema> };
    paths: Record<string, { get: { parameters: { name: string }[] } }>;
  };

  test.each(Object.entries(keys))("%s", (name, known) => {
    expect(Object.keys(components.schemas[name]?.properties ?? {}).toSorted()).toEqual(Object.keys(known).toSorted());
  });

  test("a callback", () => {
    const described = Object.keys(components.schemas["CallbackBody"]?.properties ?? {});
    expect(described.toSorted()).toEqual([...Object.keys(executionResultSchema.shape), ...Object.keys(callback)].toSorted());
  });

  test("an adapter's health", () => {
    expect(Object.keys(components.schemas["Adapter"]?.properties["health"]?.properties ?? {}).toSorted()).toEqual(
      Object.keys(health).toSorted(),
    );
  });

  test("the filter of tasks", () => {
    const names = paths["/api/v2/tasks"]?.get.parameters.map(({ name }) => name);
    expect(names?.toSorted()).toEqual([...Object.keys(filter), "limit", "cursor"].toSorted());
  });
});

test("a callback contains the result and the fields that identify the task", () => {
  const request = { message: "", outputStrategy: { type: "stream" }, profile: "inspect", approvals: "deny", onInterrupt: "fail" } as const;
  const task = { taskId: "t", agentId: "a", provider: "p", request: { ...request, callbackUrl: "https://receiver.example" } };
  const { body } = buildCallback(task, { status: "ok", durationMs: 1, connection: "cli" }, 0);
  const own = Object.keys(JSON.parse(body)).filter((name) => !Object.hasOwn(executionResultSchema.shape, name));
  expect(own.toSorted()).toEqual(Object.keys(callback).toSorted());
});
