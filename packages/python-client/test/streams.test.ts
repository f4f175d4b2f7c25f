import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, frame, hangUp, json, problem, startScriptedServer, stream } from "../../bridge-client/test/scripted-server.ts";
import { requirePythonModules } from "./python.ts";
import { type Client, type ClientOptions, runners, startClient } from "./start-client.ts";

beforeAll(requirePythonModules);

const last = frame(9, "execution.completed");
const task = { taskId: "t", state: "completed" };

describe.each(Object.keys(runners))("the client for %s", (name) => {
  let client: Client;
  const ends: (() => void)[] = [];
  beforeAll(() => {
    client = startClient(name, (end) => ends.push(end));
  });
  afterAll(() => {
    for (const end of ends) end();
  });

  /** Makes one call to a scripted server. */
  async function callScripted(call: string, given: object, answers: Answer[], options: Partial<ClientOptions> = {}) {
    const { url, requests } = await startScriptedServer(...answers);
    const outcome = await client.call(call, given, {
      url,
      token: "secret",
      retryDelayMs: 5,
      patienceMs: 30_000,
      silenceMs: 10_000,
      ...options,
    });
    return { ...outcome, requests, resumed: requests.map(({ headers }) => headers["last-event-id"]) };
  }

  async function follow(answers: Answer[], given: object = {}, options: Partial<ClientOptions> = {}) {
    const { requests, resumed, ...outcome } = await callScripted("events", { source: "t", ...given }, answers, options);
    if ("error" in outcome) return { error: outcome.error, requests, resumed };
    const { events, gaps } = outcome.result as { events: { id: string }[]; gaps: unknown[] };
    return { seen: events.map(({ id }) => id), gaps, requests, resumed };
  }

  test("the Python client ends the stream of a task after its terminal event, although the connection stays open", async () => {
    const { seen, requests } = await follow([stream(frame(1) + last, "silence")]);
    expect(seen).toEqual(["e-1", "e-9"]);
    expect(requests[0]?.target).toBe("/api/v2/tasks/t/events");
    expect(requests[0]?.headers).toMatchObject({ authorization: "Bearer secret", accept: "text/event-stream" });
  });

  test("the Python client reconnects with the last id after every kind of end, and ignores an incomplete event", async () => {
    const { seen, resumed } = await follow([
      stream(frame(1), "end"),
      stream(`${frame(2)}event: stream.closing\ndata: {"reason":"shutdown"}\n\n`, "end"),
      hangUp,
      problem(503, "draining", { "retry-after": "0" }),
      stream(frame(3) + frame(4).slice(0, -1), "break"),
      stream(frame(4) + last, "end"),
    ]);
    expect(seen).toEqual(["e-1", "e-2", "e-3", "e-4", "e-9"]);
    expect(resumed).toEqual([undefined, "e-1", "e-2", "e-2", "e-2", "e-3"]);
  });

  test("the Python client closes a silent connection and reconnects", async () => {
    const { seen, resumed } = await follow([stream(frame(1), "silence"), stream(last, "end")], {}, { silenceMs: 3_000 });
    expect(seen).toEqual(["e-1", "e-9"]);
    expect(resumed).toEqual([undefined, "e-1"]);
  });

  test("the Python client resumes after an id without an event", async () => {
    const { resumed } = await follow([stream(": connected\nid: e-7\n\n", "break"), stream(last, "end")]);
    expect(resumed).toEqual([undefined, "e-7"]);
  });

  test("the Python client ends at once if `after` is the terminal event", async () => {
    const { seen, resumed } = await follow([(response) => response.writeHead(204).end()], { after: "e-9" });
    expect({ seen, resumed }).toEqual({ seen: [], resumed: ["e-9"] });
  });

  test("the Python client sends a filter as the query", async () => {
    const source = { agentId: "a&b", types: ["execution.completed", "execution.progress"] };
    const { requests } = await follow([stream(last, "silence")], { source, stopAfter: "execution.completed" });
    expect(requests[0]?.target).toBe("/api/events?agentId=a%26b&types=execution.completed%2Cexecution.progress");
  });

  test("the Python client reports a gap as an error, or passes it to the function that tolerates it", async () => {
    const gap = 'event: stream.gap\ndata: {"oldestId":"e-5"}\n\n';
    const { error } = await follow([stream(gap + frame(5) + last, "end")], { after: "e-1" });
    expect(error).toMatchObject({ code: "stream_gap", status: null });
    const { seen, gaps } = await follow([stream(gap + frame(5) + last, "end")], { after: "e-1", toleratesGaps: true });
    expect({ seen, gaps }).toEqual({ seen: ["e-5", "e-9"], gaps: [{ oldestId: "e-5" }] });
  });

  test("the Python client does not take an ordinary response for a stream", async () => {
    const { error } = await follow([json(200, { data: [] }, { "x-request-id": "request-2" })]);
    expect(error).toMatchObject({ code: "unexpected_answer", status: 200, requestId: "request-2" });
  });

  test("the Python client stops after patienceMs without success", async () => {
    const { error } = await follow([hangUp], {}, { patienceMs: 100 });
    expect(error).toMatchObject({ code: "unreachable", status: null });
  });

  test("the Python client repeats a dispatch with the same id, and neither loses nor changes its body", async () => {
    const answers = [hangUp, problem(502, "bad_gateway"), problem(503, "overloaded", { "retry-after": "0" }), json(202, task)];
    const { requests, ...outcome } = await callScripted("dispatch", { request: { agentId: "a", message: "Grüße" } }, answers);
    expect(outcome).toMatchObject({ result: { taskId: "t", replayed: false } });
    const bodies = requests.map(({ body }) => JSON.parse(body) as { taskId: string; message: string });
    expect(bodies).toHaveLength(4);
    expect(new Set(bodies.map(({ taskId }) => taskId)).size).toBe(1);
    expect(bodies[0]).toMatchObject({ taskId: expect.stringMatching(/^[0-9a-f]{32}$/), message: "Grüße" });
  });

  test("the Python client does not retry before the time in Retry-After has passed", async () => {
    const answers = [problem(429, "too_many_requests", { "retry-after": "60" }), json(200, task)];
    const { requests, ...outcome } = await callScripted("getTask", { taskId: "t" }, answers);
    // The patience of 30 s ends before the 60 s.
    expect(outcome).toMatchObject({ error: { code: "too_many_requests", status: 429, retryAfterMs: 60_000 } });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ["a decision whose response is lost", "approvals.decide", { approvalId: "a", decision: "approve" }, hangUp, "unreachable"],
    ["a redelivery whose response is lost", "callbacks.redeliver", { taskId: "t" }, hangUp, "unreachable"],
    ["a deletion whose response is lost", "deleteTask", { taskId: "t" }, hangUp, "unreachable"],
    [
      "a dispatch to an adapter that is offline",
      "dispatch",
      { request: { agentId: "a" } },
      problem(503, "adapter_offline"),
      "adapter_offline",
    ],
    ["a request without a valid token", "getTask", { taskId: "t" }, problem(401, "unauthenticated"), "unauthenticated"],
    [
      "a request whose response is neither a success nor an error of Bridge",
      "getTask",
      { taskId: "t" },
      (response: Parameters<Answer>[0]) => void response.writeHead(304).end(),
      "unexpected_answer",
    ],
  ])("the Python client does not repeat %s", async (_, call, given, answer, code) => {
    const { requests, ...outcome } = await callScripted(call, given, [answer]);
    expect(outcome).toMatchObject({ error: { code } });
    expect(requests).toHaveLength(1);
  });

  test("the Python client reads all pages of a list", async () => {
    const page = (id: string, nextCursor: string | null): Answer => json(200, { data: [{ taskId: id }], meta: { nextCursor } });
    const { requests, ...outcome } = await callScripted("listTasks", { filter: { label: "a=b&c" } }, [page("1", "x=&y"), page("2", null)]);
    expect(outcome).toEqual({ result: [{ taskId: "1" }, { taskId: "2" }], resumed: [undefined, undefined] });
    expect(requests.map(({ target }) => target)).toEqual([
      "/api/v2/tasks?label=a%3Db%26c",
      "/api/v2/tasks?label=a%3Db%26c&cursor=x%3D%26y",
    ]);
  });

  test("the Python client sends an id with special characters as one part of the path, and rejects ids that are steps in it", async () => {
    const { requests } = await callScripted("getTask", { taskId: "a/b c?d%2F" }, [json(200, task)]);
    expect(requests[0]?.target).toBe("/api/v2/tasks/a%2Fb%20c%3Fd%252F");
    const refused = await callScripted("getTask", { taskId: ".." }, [json(200, task)]);
    expect(refused).toMatchObject({ error: { code: "not_found", status: null }, requests: [] });
  });

  test("the Python client never shows an invalid token", async () => {
    const outcome = await callScripted("getTask", { taskId: "t" }, [json(200, task)], { token: "geheim\nß" });
    expect(JSON.stringify(outcome)).not.toContain("geheim");
    expect(outcome).toMatchObject({ error: { message: "The token contains characters that are not allowed in a header." } });
  });
});
