import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ManagementError, type ManagementErrorCode } from "#contract";
import { type Call, expectProblem } from "../../support/start-bridge.ts";
import { type GatewayBridge, startGatewayBridge } from "./gateway-bridge.ts";

let bridge: GatewayBridge;
beforeAll(async () => {
  bridge = await startGatewayBridge();
});
afterEach(() => {
  bridge.hook.before = () => {};
});
afterAll(() => bridge.close());

const ask = (method: string, target: string, options?: Call) => bridge.gateway(method, `daemon${target}`, options);
const put = (target: string, content: string, ifMatch?: string) =>
  ask("PUT", target, { body: { content }, ...(ifMatch !== undefined && { headers: { "if-match": ifMatch } }) });
const etagOf = ({ headers }: { headers: Headers }): string => headers.get("etag") ?? "none";
let made = 0;
const newAgent = async (fields: object = {}): Promise<string> => {
  const id = `agent-${++made}`;
  expect((await ask("POST", "/agents", { body: { id, ...fields } })).status).toBe(201);
  return id;
};

describe("management routes", () => {
  test("the runtime can be read", async () => {
    const { status, body, headers } = await ask("GET", "");
    expect([status, body]).toEqual([
      200,
      { name: "memory", version: "1.2.3", uptimeSeconds: 4, limits: { agents: 100 }, managers: ["agents", "skills", "system"] },
    ]);
    expect(headers.get("etag")).toMatch(/^"[\w-]{43}"$/);
  });

  test("an agent can be created, read, changed, listed and deleted", async () => {
    const posted = await ask("POST", "/agents", { body: { id: "writer", name: "Writer", model: "large" } });
    expect([posted.status, posted.headers.get("location")]).toEqual([201, "/api/v2/gateway/daemon/agents/writer"]);
    expect(posted.body).toEqual({ id: "writer", name: "Writer", model: "large", etag: expect.any(String) });
    expect(etagOf(posted)).toBe(`"${posted.body.etag}"`);

    const read = await bridge.call("GET", posted.headers.get("location") ?? "");
    expect([read.status, read.body, etagOf(read)]).toEqual([200, posted.body, etagOf(posted)]);

    const patched = await ask("PATCH", "/agents/writer", { body: { model: null, name: "Author" } });
    expect([patched.status, patched.body]).toEqual([200, { id: "writer", name: "Author", etag: expect.any(String) }]);
    expect(etagOf(patched)).not.toBe(etagOf(read));

    const listed = await ask("GET", "/agents");
    expect(listed.body).toEqual({ data: [patched.body], meta: { nextCursor: null } });
    expect(etagOf(listed)).toMatch(/^"/);

    const deleted = await ask("DELETE", "/agents/writer");
    expect([deleted.status, deleted.text]).toEqual([204, ""]);
    expectProblem(await ask("GET", "/agents/writer"), "not_found");
  });

  test("files of an agent can be created, replaced, read, listed and deleted", async () => {
    const id = await newAgent();
    const created = await put(`/agents/${id}/files/SOUL.md`, "Be kind. 世界");
    expect([created.status, created.body]).toEqual([201, { name: "SOUL.md", content: "Be kind. 世界", etag: expect.any(String) }]);
    const replaced = await put(`/agents/${id}/files/SOUL.md`, "Be brief.");
    expect([replaced.status, replaced.body.content]).toEqual([200, "Be brief."]);
    const read = await ask("GET", `/agents/${id}/files/SOUL.md`);
    expect([read.status, read.body, etagOf(read)]).toEqual([200, replaced.body, `"${replaced.body.etag}"`]);
    expect((await ask("GET", `/agents/${id}/files`)).body.data).toEqual([{ name: "SOUL.md", etag: null, bytes: 9 }]);
    expect((await ask("DELETE", `/agents/${id}/files/SOUL.md`)).status).toBe(204);
    expectProblem(await ask("GET", `/agents/${id}/files/SOUL.md`), "not_found");
  });

  test("bindings of an agent can be read and replaced", async () => {
    const id = await newAgent();
    const empty = await ask("GET", `/agents/${id}/bindings`);
    expect([empty.status, empty.body]).toEqual([200, { bindings: [], etag: expect.any(String) }]);
    const bindings = [{ channel: "mail", account: "a" }, { channel: "chat" }];
    const set = await ask("PUT", `/agents/${id}/bindings`, { body: { bindings }, headers: { "if-match": etagOf(empty) } });
    expect([set.status, set.body.bindings]).toEqual([200, bindings]);
    expect((await ask("GET", `/agents/${id}/bindings`)).body).toEqual(set.body);
  });

  test("skills can be created, replaced, read, listed and deleted, and their dependencies installed", async () => {
    expect((await put("/skills/look", "one")).status).toBe(201);
    expect((await put("/skills/look", "two")).status).toBe(200);
    const read = await ask("GET", "/skills/look");
    expect([read.status, read.body, etagOf(read)]).toEqual([
      200,
      { name: "look", content: "two", etag: expect.any(String) },
      `"${read.body.etag}"`,
    ]);
    expect((await ask("GET", "/skills")).body.data).toEqual([{ name: "look", enabled: true }]);
    const installed = await ask("POST", "/skills/look/dependencies");
    expect([installed.status, installed.body]).toEqual([200, { installed: ["jq"], detail: null }]);
    expect((await ask("DELETE", "/skills/look")).status).toBe(204);
    expectProblem(await ask("POST", "/skills/look/dependencies"), "not_found");
  });

  test("the configuration can be reloaded, and models and the security posture read", async () => {
    expect((await ask("POST", "/system/reload")).body).toEqual({ detail: "Nothing had changed." });
    const models = await ask("GET", "/system/models");
    expect(models.body).toEqual({ data: [{ id: "large" }, { id: "small" }, { id: "tiny" }], meta: { nextCursor: null } });
    const security = await ask("GET", "/system/security");
    expect(security.body).toEqual({ critical: 0, findings: [] });
    for (const read of [models, security]) expect(etagOf(read)).toMatch(/^"/);
  });

  test("every management route is in the OpenAPI document", async () => {
    const { paths } = (await bridge.call("GET", "/openapi.json")).body;
    const described = Object.entries(paths as Record<string, object>)
      .filter(([path]) => path.startsWith("/api/v2/gateway/{provider}"))
      .flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method} ${path.replace("/api/v2/gateway/{provider}", "")}`),
      );
    expect(described.toSorted()).toEqual(
      [
        ...["get ", "get /agents", "post /agents"],
        ...["delete", "get", "patch"].map((method) => `${method} /agents/{agentId}`),
        "get /agents/{agentId}/files",
        ...["delete", "get", "put"].map((method) => `${method} /agents/{agentId}/files/{name}`),
        ...["get", "put"].map((method) => `${method} /agents/{agentId}/bindings`),
        "get /skills",
        ...["delete", "get", "put"].map((method) => `${method} /skills/{name}`),
        "post /skills/{name}/dependencies",
        ...["get /system/models", "get /system/security", "post /system/reload"],
      ].toSorted(),
    );
  });
});

describe("lists", () => {
  test.each(["agents", "skills", "files", "system/models"])("the list of %s is paginated", async (list) => {
    const id = await newAgent();
    await newAgent();
    for (const name of ["a", "b", "c"]) await Promise.all([put(`/skills/${name}`, "x"), put(`/agents/${id}/files/${name}`, "x")]);
    const target = list === "files" ? `/agents/${id}/files` : `/${list}`;
    const whole = (await ask("GET", target)).body.data;
    expect(whole.length).toBeGreaterThan(1);
    const found: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await ask("GET", `${target}?limit=1${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data);
      cursor = body.meta.nextCursor;
    }
    expect(found).toEqual(whole);
  });

  test.each(["limit=0", "limit=201", "cursor=%20", "name=x"])("a list rejects ?%s", async (query) => {
    for (const list of ["agents", "skills", "system/models"]) expectProblem(await ask("GET", `/${list}?${query}`), "invalid_request");
  });
});

describe("access to management routes", () => {
  const routes = [
    ["GET", ""],
    ["GET", "/agents"],
    ["GET", "/skills"],
    ["GET", "/system/models"],
    ["POST", "/system/reload"],
    ["DELETE", "/agents/nobody"],
  ] as const;

  test.each(routes)("%s %s requires the scope manage and no other", async (method, target) => {
    for (const token of ["reader", "dispatcher", "scraper"] as const) expectProblem(await ask(method, target, { token }), "scope_missing");
    expectProblem(await ask(method, target, { token: null }), "unauthenticated");
    expect((await ask(method, target, { token: "manager" })).status).toBe(method === "DELETE" ? 404 : 200);
  });

  test("agents belong to the runtime, so all tenants access the same agents", async () => {
    const id = await newAgent();
    expect((await ask("GET", `/agents/${id}`, { token: "beta" })).body.id).toBe(id);
  });

  test("a provider that is not loaded results in 404", async () => {
    const refused = await bridge.gateway("GET", "nobody/agents");
    expectProblem(refused, "not_found");
    expect(refused.body.detail).toContain("daemon");
  });

  test.each([
    ["memory", "", "memory does not report its runtime. It supports no management."],
    ["memory", "/agents", "memory manages no agents. It supports no management."],
    ["halfway", "/agents/a", "halfway manages no agents. It manages: skills."],
    ["halfway", "/system/models", "halfway does not manage its runtime as a whole. It manages: skills."],
    ["memory", "/skills/a", "memory manages no skills. It supports no management."],
  ])("%s%s results in 404 with an explanation if the adapter lacks the manager", async (provider, target, words) => {
    const refused = await bridge.gateway("GET", `${provider}${target}`);
    expectProblem(refused, "not_supported");
    expect([refused.status, refused.body.detail]).toEqual([404, `The adapter ${words}`]);
  });

  test.each(["fallen", "absent"])("the provider %s results in 503 while it is offline", async (provider) => {
    const refused = await bridge.gateway("GET", `${provider}/agents`);
    expectProblem(refused, "adapter_offline");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
  });

  test("an adapter with only one manager supports the routes of this manager", async () => {
    expect((await bridge.gateway("GET", "halfway/skills")).status).toBe(200);
  });
});

describe("errors of a manager", () => {
  test.each<[ManagementErrorCode, number, string]>([
    ["invalid_request", 400, "invalid_request"],
    ["not_found", 404, "not_found"],
    ["not_supported", 404, "not_supported"],
    ["conflict", 409, "invalid_state"],
    ["stale_write", 409, "stale_write"],
    ["unavailable", 503, "adapter_offline"],
  ])("the management error %s becomes %i %s with the manager's message", async (code, status, apiCode) => {
    bridge.hook.before = () => {
      throw new ManagementError(code, "The message of the manager.");
    };
    for (const refused of [await ask("GET", "/agents"), await put("/skills/a", "x")])
      expect([refused.status, refused.body.code, refused.body.detail]).toEqual([status, apiCode, "The message of the manager."]);
  });

  test("an existing agent is not recreated, a working agent is not deleted, and an unknown field is named", async () => {
    const id = await newAgent({ busy: true });
    expectProblem(await ask("POST", "/agents", { body: { id } }), "invalid_state");
    expectProblem(await ask("DELETE", `/agents/${id}`), "invalid_state");
    const refused = await ask("PATCH", `/agents/${id}`, { body: { colour: "red" } });
    expectProblem(refused, "invalid_request");
    expect(refused.body.detail).toContain("colour");
  });

  test.each([
    ["GET", "/agents/none", undefined],
    ["PATCH", "/agents/none", { name: "x" }],
    ["DELETE", "/agents/none", undefined],
    ["GET", "/agents/none/files", undefined],
    ["GET", "/agents/none/files/a", undefined],
    ["PUT", "/agents/none/files/a", { content: "x" }],
    ["DELETE", "/agents/none/files/a", undefined],
    ["GET", "/agents/none/bindings", undefined],
    ["PUT", "/agents/none/bindings", { bindings: [] }],
    ["GET", "/skills/none", undefined],
    ["DELETE", "/skills/none", undefined],
  ])("%s %s of a missing resource results in 404, and with If-Match in a stale write", async (method, target, body) => {
    expectProblem(await ask(method, target, { ...(body && { body }) }), "not_found");
    if (method === "GET") return;
    for (const tag of ['"abc"', "*", '"a", "b"'])
      expectProblem(await ask(method, target, { ...(body && { body }), headers: { "if-match": tag } }), "stale_write");
  });
});

describe("ETags", () => {
  test("a read with the current ETag returns 304 without a body", async () => {
    const id = await newAgent();
    for (const target of [`/agents/${id}`, "/agents", "/system/models"]) {
      const tag = etagOf(await ask("GET", target));
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const again = await ask("GET", target, { headers: { "if-none-match": known } });
        expect([again.status, again.text, etagOf(again)]).toEqual([304, "", tag]);
      }
      expect((await ask("GET", target, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    }
  });

  test.each(["file", "skill", "agent", "bindings"])("a changed resource is not overwritten: %s", async (kind) => {
    const id = await newAgent();
    const target = { file: `/agents/${id}/files/a`, skill: `/skills/${id}`, agent: `/agents/${id}`, bindings: `/agents/${id}/bindings` }[
      kind
    ];
    const write = (value: string, ifMatch: string) => {
      const headers = { "if-match": ifMatch };
      if (kind === "agent") return ask("PATCH", `${target}`, { body: { name: value }, headers });
      if (kind === "bindings") return ask("PUT", `${target}`, { body: { bindings: [{ channel: value }] }, headers });
      return put(`${target}`, value, ifMatch);
    };
    if (kind === "file" || kind === "skill") await put(`${target}`, "first");
    const seen = etagOf(await ask("GET", `${target}`));
    expect((await write("second", seen)).status).toBe(200);
    expectProblem(await write("third", seen), "stale_write");
    expectProblem(await write("third", `"x", ${seen}`), "stale_write");
    if (kind !== "bindings") expectProblem(await ask("DELETE", `${target}`, { headers: { "if-match": seen } }), "stale_write");
    const now = etagOf(await ask("GET", `${target}`));
    expect((await write("third", `"x", ${now}`)).status).toBe(200);
    expect((await write("fourth", "*")).status).toBe(200);
    if (kind !== "bindings") expect((await ask("DELETE", `${target}`, { headers: { "if-match": "*" } })).status).toBe(204);
  });

  test("exactly one of two concurrent writers succeeds, also if each sends several ETags", async () => {
    const id = await newAgent();
    const target = `/agents/${id}/files/a`;
    for (const tagOf of [(tag: string) => tag, (tag: string) => `"x", ${tag}`, () => "*"]) {
      await put(target, "first");
      const seen = etagOf(await ask("GET", target));
      // Both calls have started before either writes.
      let waiting = 0;
      const both = Promise.withResolvers<void>();
      bridge.hook.before = (method) => {
        if (method !== "writeAgentFile") return;
        if (++waiting === 2) both.resolve();
        return both.promise;
      };
      const answers = await Promise.all(["left", "right"].map((content) => put(target, content, tagOf(seen))));
      bridge.hook.before = () => {};
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      const winner = answers.find(({ status }) => status === 200);
      expect((await ask("GET", target)).body).toEqual(winner?.body);
    }
  });

  test.each(['W/"a"', "a", '"a'])("If-Match %s is rejected before anything is written", async (header) => {
    const refused = await put("/skills/never", "x", header);
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors[0].path).toBe("If-Match");
    expectProblem(await ask("GET", "/skills/never"), "not_found");
  });

  test("ETags writes reject If-None-Match, and requests without a previous read reject If-Match", async () => {
    expectProblem(await ask("PUT", "/skills/never", { body: { content: "x" }, headers: { "if-none-match": "*" } }), "invalid_request");
    const headers = { "if-match": '"a"' };
    expectProblem(await ask("POST", "/agents", { body: { id: "never" }, headers }), "invalid_request");
    expectProblem(await ask("POST", "/system/reload", { headers }), "invalid_request");
    expectProblem(await ask("GET", "/agents/never"), "not_found");
  });
});
