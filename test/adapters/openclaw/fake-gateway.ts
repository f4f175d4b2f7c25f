import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { recorded, replay } from "./manage-fixture.ts";
import recording from "./recorded-runs.json" with { type: "json" };

type Json = Record<string, unknown>;
type RunName = keyof typeof recording.runs;
interface Recorded {
  accepted: Json | null;
  events: { event: string; payload: Json }[];
  payload?: Json;
  refusal?: Json;
}
interface Run {
  sessionKey: string;
  status: string;
  reply: string;
  final?: Json;
  settle(name: RunName): void;
}
interface FakeOptions {
  token?: string;
  version?: string;
  /** Methods that it lacks. */
  without?: readonly string[];
  tickIntervalMs?: number;
  maxPayload?: number;
  /** If set, the reply of a run is returned only by chat.history, with this text. */
  history?: string;
  /** Overrides the response to a call; returns false to keep the default. */
  override?(call: { method: string; params: Json }, answer: (outcome: Json) => void, socket: WebSocket): boolean;
  /** Registers the cleanup; `afterAll` outside of a test. */
  atEnd?(act: () => void): void;
}

/** The behavior that a message requests of the fake gateway. `play` replays the recording of that name. */
export type Directive = { text: string } | { recall: true } | { hang: true } | { play: RunName; remember?: string };
/** Encodes a directive as a message. */
export const messageFor = (directive: Directive): { message: string } => ({ message: JSON.stringify(directive) });

/** The params of each method that Bridge uses. The real gateway rejects all others. */
const KNOWN_PARAMS: Record<string, string> = {
  connect: "minProtocol maxProtocol client role scopes caps auth",
  agent: "message idempotencyKey agentId sessionKey expectedExistingSessionId model timeout deliver extraSystemPrompt",
  "agent.wait": "runId timeoutMs",
  "sessions.create": "agentId key permissionMode cwd",
  "sessions.describe": "key",
  "sessions.patch": "key toolOverrides",
  "sessions.abort": "key clearQueued",
  "tasks.list": "sessionKey agentId status limit cursor",
  "chat.history": "sessionKey limit",
  "exec.approval.list": "",
  "exec.approval.resolve": "id decision",
};
const refuse = (message: string, more: Json = {}) => ({ refusal: { code: "INVALID_REQUEST", message, ...more } });

/** Replays the recorded response of a management method. */
function replayed(method: string, params: Json): Json {
  const agents = (recorded.agents.answer as { agents: { id: string }[] }).agents.map(({ id }) => id);
  const { agentId } = params;
  if (typeof agentId === "string" && !agents.includes(agentId)) return refuse(`agent "${agentId}" not found`);
  try {
    return { payload: replay(method, params) };
  } catch {
    return refuse(`unknown method: ${method}`);
  }
}

/** Returns the tool call that a recording requests approval for, so that the two recordings can be combined. */
const approvedCallIn = (name: "approved" | "rejected"): string =>
  (recording.runs[name] as unknown as Recorded).events.flatMap(({ event, payload }) =>
    event === "exec.approval.requested" ? [String((payload["request"] as Json)["toolCallId"])] : [],
  )[0] ?? "";

/** Starts a gateway on 127.0.0.1 that checks params like the real one and replays recorded events of runs. */
export async function startFakeGateway({
  token = "secret",
  version = recording.hello.version,
  without = [],
  tickIntervalMs = 30_000,
  maxPayload = 26_214_400,
  history,
  override = () => false,
  atEnd = onTestFinished,
}: FakeOptions = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  atEnd(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const calls: { method: string; params: Json }[] = [];
  const sessions = new Map<string, { sessionId: string; memory: string[] }>();
  const runs = new Map<string, Run>();
  const approvals = new Map<string, Run>();
  let bootId = randomUUID();
  let isDraining = false;

  const emit = (event: string, payload: Json, starter?: WebSocket): void => {
    // Tool events are sent only to the connection that started the run.
    const receivers = payload["stream"] === "tool" ? [starter] : server.clients;
    for (const socket of receivers) socket?.send(JSON.stringify({ type: "event", event, payload }));
  };

  const startRun = (params: Json, socket: WebSocket, answer: (outcome: Json) => void): void => {
    const runId = String(params["idempotencyKey"]);
    const sessionKey = String(params["sessionKey"]);
    const session = sessions.get(sessionKey) ?? { sessionId: randomUUID(), memory: [] };
    const given = String(params["message"]).replace(/^Your task:\n\n/, "");
    const directive: Directive = params["extraSystemPrompt"] === "echo" ? { text: given } : JSON.parse(given);
    const mine = <T>(recorded: T): T => {
      const values: Record<string, string> = { RUN: runId, KEY: sessionKey, SESSION: session.sessionId };
      const text = JSON.stringify(recorded).replaceAll(approvedCallIn("rejected"), approvedCallIn("approved"));
      return JSON.parse(text.replaceAll(/"(RUN|KEY|SESSION)"/g, (_, name: string) => JSON.stringify(values[name])));
    };
    const recordedOf = (name: RunName): Recorded => mine(recording.runs[name] as unknown as Recorded);
    const streamText = (text: string): void => {
      const size = Math.ceil(text.length / 3);
      for (let end = size, from = 0; from < text.length; from = end, end += size)
        emit("agent", {
          runId,
          sessionKey,
          stream: "assistant",
          data: { text: text.slice(0, end), delta: text.slice(from, end), itemId: "1" },
        });
    };
    const run: Run = {
      sessionKey,
      status: "running",
      reply: "",
      settle(name) {
        if (run.status !== "running") return;
        const { payload, refusal } = recordedOf(name);
        run.status = refusal !== undefined ? "failed" : payload?.["status"] === "ok" ? "completed" : "cancelled";
        const result = payload?.["result"] as { payloads: Json[] } | undefined;
        if (run.reply !== "" && result !== undefined) result.payloads = [{ text: run.reply }];
        answer(refusal !== undefined ? { refusal } : { payload });
      },
    };
    /** Replays a recording up to an approval request; the decision continues the replay. */
    const play = (name: RunName, from = 0): void => {
      const { events } = recordedOf(name);
      for (const [index, { event, payload }] of events.entries()) {
        if (index < from) continue;
        if (event !== "exec.approval.requested") emit(event, payload, socket);
        else {
          const id = randomUUID();
          approvals.set(id, {
            ...run,
            settle: (decided) => play(decided, recordedOf(decided).events.findIndex((one) => one.event === event) + 1),
          });
          emit(event, { ...payload, id });
          return;
        }
      }
      run.settle(name);
    };

    runs.set(runId, run);
    answer({ payload: { ...recordedOf("speak").accepted }, isFirst: true });
    if ("text" in directive || "recall" in directive) {
      run.reply = "text" in directive ? directive.text : session.memory.join("\n");
      streamText(run.reply);
      run.settle("speak");
    } else if ("hang" in directive) streamText("I wait.");
    else {
      if (directive.remember !== undefined) session.memory.push(directive.remember);
      play(directive.play);
    }
  };

  const methods: Record<string, (params: Json) => Json> = {
    "sessions.create"({ key, agentId }) {
      if (agentId === "nobody") return recording.runs.unknownAgent as Json;
      const session = sessions.get(String(key)) ?? { sessionId: randomUUID(), memory: [] };
      sessions.set(String(key), session);
      return { payload: { ok: true, key, sessionId: session.sessionId } };
    },
    "sessions.patch": ({ key }) => ({ payload: { ok: true, key } }),
    "sessions.describe": ({ key }) => ({ payload: { session: sessions.has(String(key)) ? { key } : null } }),
    "sessions.abort"({ key }) {
      for (const run of runs.values()) if (run.sessionKey === key) run.settle("cancelled");
      return { payload: { ok: true } };
    },
    "tasks.list"({ sessionKey, status = ["running", "completed", "failed", "cancelled"] }) {
      const rows = [...runs].filter(
        ([, run]) => [undefined, run.sessionKey].includes(sessionKey as string) && (status as string[]).includes(run.status),
      );
      const tasks = rows.map(([runId, run]) => ({
        runId,
        status: run.status,
        sessionKey: run.sessionKey,
        childSessionKey: run.sessionKey,
      }));
      return { payload: { tasks: tasks.reverse() } };
    },
    "agent.wait"({ runId }) {
      const run = runs.get(String(runId));
      const recorded = recording.runs.speak.wait as Json;
      return {
        payload:
          run?.status === "completed"
            ? { ...recorded, runId, terminalReply: history === undefined ? { text: run.reply } : undefined }
            : recording.unknownWait,
      };
    },
    "chat.history"({ sessionKey }) {
      const [runId] = [...runs].findLast(([, run]) => run.sessionKey === sessionKey) ?? [];
      const message = { role: "assistant", content: [{ type: "text", text: history }], __openclaw: { runId } };
      return { payload: { messages: history === undefined ? [] : [message] } };
    },
    "exec.approval.list": () => ({ payload: [] }),
    "exec.approval.resolve"({ id, decision }) {
      const run = approvals.get(String(id));
      if (run === undefined || !approvals.delete(String(id))) return refuse("unknown or expired approval id");
      run.settle(decision === "allow-once" ? "approved" : "rejected");
      return { payload: { ok: true } };
    },
  };

  server.on("connection", (socket) => {
    socket.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce: "n", ts: 1 } }));
    socket.on("message", (data) => {
      const { id, method, params } = JSON.parse(data.toString()) as { id: string; method: string; params: Json };
      calls.push({ method, params });
      const answer = ({ refusal, payload }: Json): void =>
        socket.send(
          JSON.stringify({ type: "res", id, ...(refusal === undefined ? { ok: true, payload } : { ok: false, error: refusal }) }),
        );
      const allowed = KNOWN_PARAMS[method]?.split(" ");
      const odd = Object.keys(params).find((name) => !allowed?.includes(name));
      if (override({ method, params }, answer, socket)) return;
      if (isDraining && ["sessions.create", "agent"].includes(method))
        return answer({
          refusal: { code: "UNAVAILABLE", message: "Gateway is draining for restart; new tasks are not accepted", retryable: true },
        });
      if (without.includes(method)) answer(refuse(`unknown method: ${method}`));
      else if (allowed === undefined) answer(replayed(method, params));
      else if (odd !== undefined) answer(refuse(`invalid ${method} params: at root: unexpected property '${odd}'`));
      else if (method === "agent") startRun(params, socket, answer);
      else if (method !== "connect") answer(methods[method]?.(params) ?? {});
      else if ((params["auth"] as Json | undefined)?.["token"] !== token)
        answer(refuse("unauthorized: gateway token mismatch", { details: { code: "AUTH_TOKEN_MISMATCH" } }));
      else {
        const features = { methods: recording.hello.methods.filter((name) => !without.includes(name)) };
        answer({
          payload: {
            type: "hello-ok",
            protocol: 4,
            server: { version, bootId },
            features,
            auth: { scopes: params["scopes"] },
            policy: { maxPayload, tickIntervalMs },
          },
        });
      }
    });
  });

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    calls,
    runs,
    emit,
    /** Closes every connection; the runs continue. */
    disconnectAll(): void {
      for (const socket of server.clients) socket.terminate();
    },
    /** Simulates SIGTERM: announces the shutdown, rejects new runs and lets active runs end, until `restart`. */
    drain(): void {
      isDraining = true;
      emit("shutdown", { reason: "gateway stopping" });
    },
    /** Simulates a crash and a new start: active runs are marked as `cancelled`. */
    restart(): void {
      bootId = randomUUID();
      isDraining = false;
      for (const run of runs.values()) if (run.status === "running") run.status = "cancelled";
      for (const socket of server.clients) socket.terminate();
    },
    /** Starts a run that no client requested. */
    startUnrequestedRun(sessionKey: string, reply: string, status = "running"): string {
      const runId = randomUUID();
      runs.set(runId, {
        sessionKey,
        status,
        reply,
        settle: () => runs.set(runId, { sessionKey, status: "cancelled", reply, settle() {} }),
      });
      emit("task", { action: "upserted", task: { runId, sessionKey, childSessionKey: sessionKey, status } });
      return runId;
    },
  };
}
export type FakeGateway = Awaited<ReturnType<typeof startFakeGateway>>;
