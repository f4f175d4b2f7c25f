import { type ChildProcess, spawn } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import type { AdapterCapabilities, AdapterEvent, ExecutionAdapter, ExecutionEventListener, NormalizedUsage } from "#contract";
import { createInMemoryAdapter, type Emit, type Run } from "../adapters/in-memory-adapter.ts";
import { createInMemoryManager, type InMemoryManager } from "../adapters/in-memory-manager.ts";
import { createScriptedRun, scriptedScenarios } from "../adapters/scripted-run.ts";
import type { AdapterScenarios, AdapterSubject } from "./adapter-bench.ts";
import { type AdapterCheck, adapterChecks, runAdapterCheck } from "./adapter-checks.ts";

/** A planted fault in an adapter that otherwise follows the contract. */
interface Fault {
  /** The check that must find the fault, and its message. */
  check: string;
  complaint: RegExp;
  run?: (sound: Run) => Run;
  adapter?: (sound: Required<ExecutionAdapter>) => ExecutionAdapter;
  capabilities?: Partial<AdapterCapabilities>;
  hasProcesses?: true;
}

const manages = "manages agents, skills or the runtime";
const streams = "streams text that adds up to the output";

const faults: Record<string, Fault> = {
  "is up before initialize": {
    check: "reports that it is offline before initialize",
    complaint: /healthy/,
    adapter: (sound) => ({ ...sound, checkHealth: createInitialized(sound).checkHealth }),
  },
  "stays up after shutdown": {
    check: "is up after initialize, over a connection, and down after shutdown",
    complaint: /offline/,
    adapter: (sound) => ({ ...sound, shutdown: async () => {} }),
  },
  "has no name": {
    check: "describes its provider and its capabilities",
    complaint: /to match/,
    adapter: (sound) => ({ ...sound, provider: "" }),
  },
  "claims management without a method for it": {
    check: manages,
    complaint: /expected false to be true/,
    capabilities: { management: true },
  },
  "manages without claiming it": {
    check: manages,
    complaint: /expected true to be false/,
    adapter: (sound) => ({ ...sound, ...createInMemoryManager() }),
  },
  "has only some methods of a manager": managing({ deleteSkill: undefined }, /SkillManager: all of its methods, or none/),
  "does not describe its runtime": managing({ getRuntimeInfo: async () => ({}) }, /to match object/),
  "lists agents without a tag": managing({ listAgents: async () => [{ id: "a" }] }, /to match object/),
  "finds a missing agent": managing({ getAgent: async (id: string) => ({ id, etag: "1" }) }, /getAgent/),
  "deletes a missing file": managing({ deleteAgentFile: async () => true }, /expected true to be false/),
  "rejects with an error of another type": managing({ setBindings: () => Promise.reject(new Error("no such agent")) }, /setBindings/),
  "lists a file that cannot be read": managing(
    {
      listAgents: async () => [{ id: "a", etag: "1" }],
      getAgent: async (id: string) => (id === "a" ? { id, etag: "1" } : null),
      listAgentFiles: async (id: string) => (id === "a" ? [{ name: "A.md", etag: null, bytes: null }] : null),
    },
    /readAgentFile|to match object/,
  ),
  "lists a skill that cannot be read": managing({ listSkills: async () => [{ name: "a" }] }, /readSkill/),
  "overwrites a skill that has changed": managing({ writeSkill: async () => ({}) }, /writeSkill/),
  "requests approvals without claiming it": {
    check: "requests an approval before a tool call, and follows the decision",
    complaint: /to deeply equal/,
    capabilities: { approvals: false },
    run:
      (sound) =>
      async (request, emit, signal, requestApproval, ...rest) => {
        await requestApproval({ taskId: request.taskId, toolCallId: "1", toolName: "look", input: {} });
        return sound(request, emit, signal, requestApproval, ...rest);
      },
  },
  "claims approvals without requesting them": {
    check: "requests an approval before a tool call, and follows the decision",
    complaint: /to have a length of 1/,
    run:
      (sound) =>
      (request, ...rest) =>
        sound({ ...request, approvals: "allow" }, ...rest),
  },
  "ignores a rejection": {
    check: "requests an approval before a tool call, and follows the decision",
    complaint: /isError/,
    run:
      (sound) =>
      (request, emit, signal, requestApproval, ...rest) =>
        sound(request, emit, signal, async (question) => ({ ...(await requestApproval(question)), decision: "approve" }), ...rest),
  },
  "waits for a decision after a cancel": {
    check: "a canceled task does not wait for an approval",
    complaint: /nothing after/,
    run:
      (sound) =>
      (request, emit, signal, requestApproval, ...rest) =>
        sound(
          request,
          emit,
          signal,
          async (question) => {
            await requestApproval(question);
            return new Promise(() => {});
          },
          ...rest,
        ),
  },
  "emits the start event itself": {
    check: streams,
    complaint: /may not emit/,
    run: before((emit) => emit("execution.started" as "execution.progress", {})),
  },
  "emits events of another task": {
    check: streams,
    complaint: /belongs to no task/,
    adapter: changingEvents((event) => ({ ...event, taskId: "another" })),
  },
  "emits data of the wrong form": {
    check: streams,
    complaint: /invalid data/,
    adapter: changingEvents((event) => ({ ...event, data: { text: "content" } }) as unknown as AdapterEvent),
  },
  "emits events after the result": {
    check: streams,
    complaint: /came after the result/,
    run: before((emit) => setImmediate(() => emit("assistant.text", { content: "by the way" }))),
  },
  "streams less text than its output": {
    check: streams,
    complaint: /to be/,
    adapter: changingEvents((event) =>
      event.type === "assistant.text" ? { ...event, data: { content: event.data.content.slice(1) } } : event,
    ),
  },
  "streams the whole text at once": {
    check: streams,
    complaint: /greater than 1/,
    run:
      (sound) =>
      async (request, emit, ...rest) => {
        const result = await sound(request, () => {}, ...rest);
        emit("assistant.text", { content: result.output ?? "" });
        return result;
      },
  },
  "emits text without claiming to stream": {
    check: streams,
    complaint: /to deeply equal \[\]/,
    capabilities: { streaming: false },
  },
  "returns a result of the wrong form": {
    check: streams,
    complaint: /costUsd/,
    run: returning({ costUsd: -1 }),
  },
  "returns unknown fields": {
    check: streams,
    complaint: /sessionId/,
    run: returning({ sessionId: "x" }),
  },
  "throws an error that it should return": {
    check: "reports a failure of the runtime as a result",
    complaint: /the model is gone/,
    run: () => () => Promise.reject(new Error("the model is gone")),
  },
  "never completes a tool": {
    check: "reports each tool call as invoked and then completed, under one id",
    complaint: /to deeply equal/,
    run: before((emit) => emit("tool.invoked", { toolCallId: "2", toolName: "look", input: {} })),
  },
  "splits characters": {
    check: "returns every Unicode character unchanged",
    complaint: /tears a character/,
    run:
      (sound) =>
      (request, emit, ...rest) =>
        sound(
          request,
          (type, data) => {
            for (const content of "content" in data ? String(data["content"]).split("") : []) emit("assistant.text", { content });
            if (type !== "assistant.text") emit(type, data);
          },
          ...rest,
        ),
  },
  "normalizes characters": {
    check: "returns every Unicode character unchanged",
    complaint: /not the text of the runtime/,
    run: changingOutput((output) => output.normalize("NFC")),
  },
  "cuts long output": {
    check: "returns an output of 1 MB",
    complaint: /not the text of the runtime/,
    run: changingOutput((output) => output.slice(0, 65_536)),
  },
  "interprets a slash": {
    check: "takes a message as data: a slash command",
    complaint: /the output is not the message/,
    run: changingOutput((output) => output.replace(/^\//, "")),
  },
  "stops at a NUL": {
    check: "takes a message as data: a NUL",
    complaint: /the output is not the message/,
    run: changingOutput((output) => output.split("\0")[0] ?? ""),
  },
  "mixes up concurrent tasks": {
    check: "runs four tasks concurrently and keeps their outputs separate",
    complaint: /to deeply equal|after the result/,
    adapter: (sound) => {
      let latest = "";
      const changed = changingEvents((event) => ({ ...event, taskId: latest }))(sound);
      const execute: ExecutionAdapter["execute"] = (request) => {
        latest = request.taskId;
        return sound.execute(request);
      };
      return { ...changed, execute };
    },
    run:
      (sound) =>
      async (...task) => {
        await new Promise(setImmediate);
        return sound(...task);
      },
  },
  "claims to cancel without doing so": {
    check: "cancels a running task",
    complaint: /execute\(\): nothing after/,
    adapter: (sound) => ({ ...sound, cancel: async () => true }),
  },
  "cannot cancel immediately": {
    check: "cancels a task whose runtime has not started to work",
    complaint: /expected false to be true/,
    adapter: (sound) => ({ ...sound, cancel: async () => false }),
  },
  "claims to cancel unknown tasks": {
    check: "does not cancel unknown or ended tasks",
    complaint: /expected true to be false/,
    adapter: (sound) => ({ ...sound, cancel: async (taskId) => (await sound.cancel(taskId)) || true }),
  },
  "cancels other tasks": {
    check: "canceling one task does not affect the others",
    complaint: /expected false to be true/,
    adapter: (sound) => {
      const known = new Set<string>();
      return {
        ...sound,
        execute: (request) => sound.execute(known.add(request.taskId) && request),
        cancel: async () => (await Promise.all([...known].map(sound.cancel))).some(Boolean),
      };
    },
  },
  "forgets its sessions": {
    check: "resumes a session, and reports the usage of each turn separately",
    complaint: /to match object/,
    adapter: (sound) => ({ ...sound, execute: ({ resumeToken: _, ...request }) => sound.execute(request) }),
  },
  "reports the usage of the whole session": {
    check: "resumes a session, and reports the usage of each turn separately",
    complaint: /to deeply equal/,
    run: (sound) => {
      const total: NormalizedUsage = { inputTokens: 0, outputTokens: 0 };
      return async (...task) => {
        const { usage, ...result } = await sound(...task);
        total.inputTokens += usage?.inputTokens ?? 0;
        total.outputTokens += usage?.outputTokens ?? 0;
        return { ...result, usage: { ...total } };
      };
    },
  },
  "does not report the cost of a task": {
    check: "reports the cost of a task",
    complaint: /undefined|NaN/,
    run:
      (sound) =>
      async (...task) => {
        const { costUsd: _, ...result } = await sound(...task);
        return result;
      },
  },
  "emits events to a removed listener": {
    check: "emits no events to a removed listener",
    complaint: /to be/,
    adapter: (sound) => ({ ...sound, offEvent: () => {} }),
  },
  "leaves work running at shutdown": {
    check: "ends running tasks at shutdown",
    complaint: /nothing after/,
    adapter: (sound) => ({ ...sound, shutdown: async () => {} }),
  },
  "leaves a process behind": {
    check: "returns every Unicode character unchanged",
    complaint: /is left after the result/,
    hasProcesses: true,
    run:
      (sound) =>
      (request, emit, ...rest) => {
        leftBehind.push(spawn("sleep", ["60"], { env: { PATH: process.env["PATH"], BRIDGE_TASK_ID: request.taskId }, stdio: "ignore" }));
        return sound(request, emit, ...rest);
      },
  },
};

/** An adapter that manages everything, with this fault. */
function managing(fault: Partial<Record<keyof InMemoryManager, unknown>>, complaint: RegExp): Fault {
  return {
    check: manages,
    complaint,
    capabilities: { management: true },
    adapter: (sound) => ({ ...sound, ...createInMemoryManager(), ...fault }),
  };
}

const leftBehind: ChildProcess[] = [];
afterEach(() => {
  for (const child of leftBehind.splice(0)) child.kill("SIGKILL");
});

describe("the conformance kit of adapters", () => {
  test.each(Object.entries(faults))("the conformance kit of adapters catches an adapter that %s", async (_name, fault) => {
    const check = adapterChecks.find(({ name }) => name === fault.check);
    if (check === undefined) throw new Error(`no check is called ${fault.check}`);
    // The same check passes without the fault, so the fault causes the failure.
    await runAdapterCheck(check, actOf(check, createSubject({})), createSubject({}));
    const subject = createSubject(fault);
    await expect(runAdapterCheck(check, actOf(check, subject), subject)).rejects.toThrow(fault.complaint);
  });

  test("the conformance kit of adapters names the scenario of a claimed ability that the subject lacks", async () => {
    const { speak, echo, hang, fail } = scriptedScenarios;
    const subject = { ...createSubject({}), scenarios: { speak, echo, hang, fail, useTool: null } as unknown as AdapterScenarios };
    for (const [ability, name] of [
      ["costTracking", "cost"],
      ["sessionResume", "resume"],
      ["approvals", "askFirst"],
    ]) {
      const check = adapterChecks.find((check) => check.ability === ability) as AdapterCheck;
      await expect(runAdapterCheck(check, check.check, subject)).rejects.toThrow(`its subject must define scenarios.${name}`);
    }
  });

  test("the conformance kit of adapters has a planted fault for every kind of check", () => {
    const proven = new Set(Object.values(faults).map(({ check }) => check));
    const kindOf = (name: string) => name.split(":")[0];
    const kinds = new Set([...proven].map(kindOf));
    expect(adapterChecks.map(({ name }) => name).filter((name) => !kinds.has(kindOf(name)))).toEqual([]);
  });
});

function createSubject({ run, adapter, capabilities, hasProcesses }: Partial<Fault>): AdapterSubject {
  return {
    createAdapter: () => {
      const scripted = createScriptedRun({ streaming: true });
      const sound = createInMemoryAdapter({ run: run?.(scripted) ?? scripted, ...(capabilities && { capabilities }) });
      return adapter?.(sound) ?? sound;
    },
    scenarios: scriptedScenarios,
    hasProcesses: hasProcesses ?? false,
    patienceMs: 1_000,
  };
}

function actOf(check: AdapterCheck, subject: AdapterSubject): AdapterCheck["check"] {
  const claimed = check.ability === undefined || subject.createAdapter().capabilities()[check.ability];
  const act = claimed ? check.check : check.refused;
  if (act === undefined) throw new Error(`${check.name} has nothing to check`);
  return act;
}

/** Calls a function just before the runtime answers. */
function before(act: (emit: Emit) => unknown): (sound: Run) => Run {
  return (sound) =>
    (request, emit, ...rest) => {
      act(emit);
      return sound(request, emit, ...rest);
    };
}

function returning(fields: object): (sound: Run) => Run {
  return (sound) =>
    async (...task) => ({ ...(await sound(...task)), ...fields });
}

/** Changes the output and streams the changed text. */
function changingOutput(change: (output: string) => string): (sound: Run) => Run {
  return (sound) =>
    async (request, emit, ...rest) => {
      const result = await sound(request, () => {}, ...rest);
      const output = change(result.output ?? "");
      emit("assistant.text", { content: output });
      return { ...result, output };
    };
}

function changingEvents(change: (event: AdapterEvent) => AdapterEvent): (sound: Required<ExecutionAdapter>) => ExecutionAdapter {
  return (sound) => {
    const changing = new Map<ExecutionEventListener, ExecutionEventListener>();
    return {
      ...sound,
      onEvent: (listener) => {
        changing.set(listener, (event) => listener(change(event)));
        sound.onEvent(changing.get(listener) ?? listener);
      },
      offEvent: (listener) => sound.offEvent(changing.get(listener) ?? listener),
    };
  };
}

/** The health of an adapter that was initialized. */
function createInitialized(sound: ExecutionAdapter): Pick<ExecutionAdapter, "checkHealth"> {
  return { checkHealth: async () => ({ ...(await sound.checkHealth()), status: "healthy", connection: "in-process" }) };
}
