import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { createConfig, createManagersFixture, recorded, refusalOf } from "./manage-fixture.ts";

const refused = (code: string, words: RegExp | string = /./) => ({ name: "ManagementError", code, message: expect.stringMatching(words) });
const invalid = (message: string) => new GatewayError({ code: "INVALID_REQUEST", message });
/** A gateway with a configuration that can be changed. */
const configured = (bindings?: Record<string, unknown>[]) =>
  createConfig({
    agents: { defaults: {}, entries: { main: {}, writer: { name: "Writer", model: "custom/one", skills: ["a", "b"] } } },
    ...(bindings === undefined ? {} : { bindings }),
  });

describe("agents of the recorded gateway", () => {
  it("agents of the recorded gateway are returned with their configuration, without the directory of their private state", async () => {
    const { managers } = createManagersFixture();
    const agents = await managers.listAgents();
    expect(agents.map(({ id }) => id)).toEqual(["plain", "main", "writer"]);
    expect(agents[0]).toMatchObject({
      id: "plain",
      model: "custom/test-model",
      workspace: "/srv/openclaw/rel/path",
      identity: { emoji: "🦉" },
    });
    expect(JSON.stringify(agents)).not.toContain("agentDir");
    expect(await managers.getAgent("plain")).toEqual(agents[0]);
    expect(await managers.getAgent("nobody")).toBeNull();
  });

  it("agents of the recorded gateway are returned with their primary model and the complete model selection", async () => {
    const config = createConfig({ agents: { entries: { main: { model: { primary: "custom/one", fallbacks: ["custom/two"] } } } } });
    expect(await createManagersFixture(config.answers).managers.getAgent("main")).toMatchObject({
      model: "custom/one",
      modelSelection: { primary: "custom/one", fallbacks: ["custom/two"] },
      isDefault: true,
    });
  });
});

describe("createAgent", () => {
  /** Like the real gateway, lists a new agent only after some calls. */
  const makes = (made: string, config = configured()) => {
    let asked = 0;
    return {
      config,
      answers: {
        ...config.answers,
        "agents.create": () => {
          config.source.agents.entries[made] = {};
          config.touch();
          return { agentId: made };
        },
        "agents.list": () => {
          asked += 1;
          const { agents, ...list } = config.answers["agents.list"]();
          return { ...list, agents: agents.filter(({ id }) => id !== made || asked > 3) };
        },
        "agents.update": () => ({ ok: true }),
        "agents.delete": ({ agentId }: Record<string, unknown>) => {
          delete config.source.agents.entries[String(agentId)];
          config.touch();
          return { ok: true };
        },
      },
    };
  };

  it("createAgent waits until the gateway lists the agent, and then sets the remaining fields", async () => {
    const { answers } = makes("poet");
    const { managers, called } = createManagersFixture(answers);
    const agent = await managers.createAgent("poet", {
      name: "The Poet",
      model: "custom/one",
      tools: { allow: ["read"] },
      workspace: null,
    });
    expect(agent).toMatchObject({ id: "poet", name: "The Poet", identity: { name: "The Poet" }, tools: { allow: ["read"] } });
    expect(called("agents.create")).toEqual([{ name: "poet", model: "custom/one" }]);
    expect(called("agents.update")).toEqual([{ agentId: "poet", name: "The Poet" }]);
  });

  it("createAgent uses a workspace next to the one that the operator set for all agents", async () => {
    const config = configured();
    config.source.agents.defaults = { workspace: "/data/ws/" };
    const { managers, called } = createManagersFixture(makes("poet", config).answers);
    await managers.createAgent("poet", {});
    expect(called("agents.create")).toEqual([{ name: "poet", workspace: "/data/ws-poet" }]);
  });

  it.each(["Poet", "my poet", "a.b", "-x", "", "x".repeat(65), "é"])(
    "createAgent rejects the id %j, which the gateway would change",
    async (id) => {
      const { managers, calls } = createManagersFixture();
      await expect(managers.createAgent(id, {})).rejects.toMatchObject(refused("invalid_request", /^id: /));
      expect(calls).toEqual([]);
    },
  );

  it("createAgent deletes an agent that got a different id", async () => {
    const { answers, config } = makes("poet-2");
    await expect(createManagersFixture(answers).managers.createAgent("poet", {})).rejects.toMatchObject(
      refused("invalid_request", "poet-2"),
    );
    expect(Object.keys(config.source.agents.entries)).toEqual(["main", "writer"]);
  });

  it("createAgent deletes an agent whose fields the gateway rejects", async () => {
    const { answers, config } = makes("poet");
    const bench = createManagersFixture({
      ...answers,
      "config.patch": () => {
        throw invalid("invalid config: agents.entries.poet.name: Too long");
      },
    });
    await expect(bench.managers.createAgent("poet", { name: "x" })).rejects.toMatchObject(refused("invalid_request", "Too long"));
    expect(Object.keys(config.source.agents.entries)).toEqual(["main", "writer"]);
  });

  it("createAgent rejects unknown fields by name before it creates anything", async () => {
    const { managers, called } = createManagersFixture();
    await expect(managers.createAgent("poet", { nope: 1, agentDir: "/x" })).rejects.toMatchObject(
      refused("invalid_request", /^nope, agentDir: .*thinkingDefault/),
    );
    await expect(managers.createAgent("poet", { workspace: "here" })).rejects.toMatchObject(
      refused("invalid_request", /^workspace: .*absolute/),
    );
    expect(called("agents.create")).toEqual([]);
  });

  it.each<[string, () => never | undefined, RegExp]>([
    ["writer", () => undefined, /already/],
    [
      "poet",
      () => {
        throw refusalOf("existing");
      },
      /already exists/,
    ],
    [
      "poet",
      () => {
        throw invalid('agent "poet" deletion cleanup is still pending');
      },
      /Delete the agent again/,
    ],
  ])("createAgent returns a conflict for an existing agent or one with a pending deletion: %s", async (id, create, words) => {
    const { managers } = createManagersFixture({ ...configured().answers, "agents.create": create });
    await expect(managers.createAgent(id, {})).rejects.toMatchObject(refused("conflict", words));
  });
});

describe("updateAgent", () => {
  it("updateAgent writes all changes at once with the hash that it read, and removes fields that are null, including arrays", async () => {
    const config = configured();
    const { managers, called } = createManagersFixture(config.answers);
    const { etag } = (await managers.getAgent("writer")) ?? {};
    const changed = await managers.updateAgent("writer", { model: null, skills: null, thinkingDefault: "high" }, etag);
    expect(changed).toMatchObject({ id: "writer", name: "Writer", thinkingDefault: "high" });
    expect(changed).not.toHaveProperty("model");
    expect(config.source.agents.entries).toEqual({ main: {}, writer: { name: "Writer", thinkingDefault: "high" } });
    expect(called("config.patch")).toMatchObject([{ baseHash: "h1", replacePaths: ["agents.entries.writer.skills"] }]);
    expect(changed?.etag).not.toBe(etag);
  });

  it("updateAgent rejects a write on an agent that changed since it was read", async () => {
    const { managers, called } = createManagersFixture(configured().answers);
    await expect(managers.updateAgent("writer", { model: "custom/two" }, "old")).rejects.toMatchObject(refused("stale_write"));
    expect(called("config.patch")).toEqual([]);
  });

  it("updateAgent retries when another client changes something else, and is stale when it changes the same agent", async () => {
    const config = configured();
    let meanwhile: () => void = () => {};
    const { managers } = createManagersFixture({
      ...config.answers,
      "config.patch": (params) => {
        meanwhile();
        meanwhile = () => {};
        return config.answers["config.patch"](params);
      },
    });
    const { etag } = (await managers.getAgent("writer")) ?? {};
    meanwhile = config.touch;
    const changed = await managers.updateAgent("writer", { model: "custom/two" }, etag);
    expect(changed).toMatchObject({ model: "custom/two" });
    meanwhile = () => {
      config.source.agents.entries["writer"] = { name: "Somebody's" };
      config.touch();
    };
    await expect(managers.updateAgent("writer", { model: "custom/three" }, changed?.etag)).rejects.toMatchObject(refused("stale_write"));
    expect(config.source.agents.entries["writer"]).toEqual({ name: "Somebody's" });
  });

  it("updateAgent succeeds when another change follows before the gateway applies it", async () => {
    const config = configured();
    const message = "config.patch persisted but was not applied to the active Gateway (superseded); run config.get, then use config.apply";
    const { managers, called } = createManagersFixture({
      ...config.answers,
      "config.patch": (params) => {
        config.answers["config.patch"](params);
        throw new GatewayError({ code: "UNAVAILABLE", message });
      },
    });
    expect(await managers.updateAgent("writer", { model: "custom/two" })).toMatchObject({ model: "custom/two" });
    expect(called("config.patch")).toHaveLength(1);
  });

  it("updateAgent accepts only one of two writes with the same etag", async () => {
    const config = configured();
    const { managers } = createManagersFixture(config.answers);
    const { etag } = (await managers.getAgent("writer")) ?? {};
    const outcomes = await Promise.allSettled(["one", "two"].map((model) => managers.updateAgent("writer", { model }, etag)));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({ reason: refused("stale_write") });
  });

  it("updateAgent returns null for an unknown agent and changes nothing", async () => {
    const { managers, called } = createManagersFixture(configured().answers);
    expect(await managers.updateAgent("nobody", { model: "custom/two" })).toBeNull();
    expect(called("config.patch")).toEqual([]);
  });
});

describe("deleteAgent", () => {
  const deletes = (outcomes: object[]) => {
    const config = configured();
    return {
      ...config.answers,
      "tasks.list": () => ({ tasks: [] }),
      "agents.delete": () => {
        delete config.source.agents.entries["writer"];
        return { ok: true, ...outcomes.shift() };
      },
    };
  };

  it("deleteAgent repeats the call until the gateway has moved all files to the trash", async () => {
    const { managers, called } = createManagersFixture(deletes([{ purgeFailed: true }, { failed: [{ path: "/x" }] }, {}]));
    expect(await managers.deleteAgent("writer")).toBe(true);
    expect(called("agents.delete")).toEqual(Array(3).fill({ agentId: "writer", deleteFiles: true }));
  });

  it("deleteAgent returns a conflict with instructions while the agent has active runs, and deletes nothing", async () => {
    const { managers, called } = createManagersFixture({ ...deletes([]), "tasks.list": () => ({ tasks: [{}, {}] }) });
    await expect(managers.deleteAgent("writer")).rejects.toMatchObject(refused("conflict", /2 active run.*Cancel/));
    expect(called("tasks.list")).toEqual([{ agentId: "writer", status: ["running", "queued"] }]);
    expect(called("agents.delete")).toEqual([]);
  });

  it("deleteAgent rejects the first agent and the default agent", async () => {
    const { managers, called } = createManagersFixture(deletes([]));
    await expect(managers.deleteAgent("main")).rejects.toMatchObject(refused("conflict", "main"));
    expect(called("agents.delete")).toEqual([]);
  });

  it("deleteAgent rejects a stale etag, and returns false for an unknown agent", async () => {
    const { managers, called } = createManagersFixture({
      ...deletes([]),
      "agents.delete": () => {
        throw invalid('agent "nobody" not found');
      },
    });
    await expect(managers.deleteAgent("writer", "old")).rejects.toMatchObject(refused("stale_write"));
    expect(await managers.deleteAgent("nobody", "old")).toBe(false);
    expect(called("agents.delete")).toEqual([]);
    expect(await managers.deleteAgent("nobody")).toBe(false);
    const { answers } = createConfig({ agents: { entries: { writer: {} } } });
    expect(
      await createManagersFixture({
        ...answers,
        "agents.delete": () => Promise.reject(invalid('agent "main" not found')),
      }).managers.deleteAgent("main"),
    ).toBe(false);
  });
});

describe("files of an agent", () => {
  it("files of an agent are listed if they exist, including the file that the gateway omits from its list", async () => {
    const identity = { workspace: "/srv/writer", file: { name: "IDENTITY.md", missing: false, size: 5, hash: "h", content: "- Bob" } };
    const { managers } = createManagersFixture({ "agents.files.list": () => recorded.files.answer, "agents.files.get": () => identity });
    expect(await managers.listAgentFiles("writer")).toEqual([{ name: "IDENTITY.md", etag: "h", bytes: 5 }]);
  });

  it("files of an agent are read with the gateway's hash as etag", async () => {
    const { managers } = createManagersFixture();
    const file = await managers.readAgentFile("plain", "SOUL.md");
    expect(file).toEqual({ name: "SOUL.md", content: "x", etag: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" });
    expect(await managers.readAgentFile("writer", "USER.md")).toBeNull();
    expect(await managers.readAgentFile("nobody", "SOUL.md")).toBeNull();
  });

  it("files of an agent are rejected with the list of valid names if the gateway does not support the name", async () => {
    const { managers } = createManagersFixture({
      "agents.files.set": () => {
        throw refusalOf("otherFile");
      },
    });
    const words = /AGENTS\.md, SOUL\.md, .*IDENTITY\.md/;
    await expect(managers.readAgentFile("writer", "TOOLS.md")).rejects.toMatchObject(refused("invalid_request", words));
    await expect(managers.writeAgentFile("writer", "TOOLS.md", "x")).rejects.toMatchObject(refused("invalid_request", words));
  });

  it("files of an agent are compared and written by the gateway atomically", async () => {
    const { managers, called } = createManagersFixture({ "agents.files.set": () => ({ workspace: "/srv", file: { name: "SOUL.md" } }) });
    const { etag } = (await managers.readAgentFile("plain", "SOUL.md")) ?? {};
    const written = await managers.writeAgentFile("plain", "SOUL.md", "y", etag);
    expect(called("agents.files.set")).toEqual([{ agentId: "plain", name: "SOUL.md", content: "y", expectedHash: etag }]);
    expect(written).toEqual({ name: "SOUL.md", content: "y", etag: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it("files of an agent are compared by Bridge if the gateway is too old to do it", async () => {
    const { managers, called } = createManagersFixture({
      "agents.files.set": (params) => {
        if ("expectedHash" in params) throw invalid("invalid agents.files.set params: at root: unexpected property 'expectedHash'");
        return { workspace: "/srv", file: { name: "SOUL.md" } };
      },
    });
    const { etag } = (await managers.readAgentFile("plain", "SOUL.md")) ?? {};
    await managers.writeAgentFile("plain", "SOUL.md", "y", etag);
    expect(called("agents.files.set").at(-1)).toEqual({ agentId: "plain", name: "SOUL.md", content: "y" });
    await expect(managers.writeAgentFile("plain", "SOUL.md", "z", "old")).rejects.toMatchObject(refused("stale_write"));
  });

  it("files of an agent are stale when the gateway finds different content, and when the file does not exist", async () => {
    const { managers } = createManagersFixture();
    const { etag } = (await managers.readAgentFile("plain", "SOUL.md")) ?? {};
    await expect(managers.writeAgentFile("plain", "SOUL.md", "x", etag)).rejects.toMatchObject(refused("stale_write"));
    await expect(managers.writeAgentFile("writer", "USER.md", "x", "old")).rejects.toMatchObject(refused("stale_write"));
  });

  it.each([
    ["too long", "é".repeat(1_048_577), /2097152 bytes; got 2097154/],
    ["with a NUL", "a\0b", /NUL/],
    ["with a lone surrogate", "\ud800", /lone surrogate/],
  ])("files of an agent are not written %s", async (_, content, words) => {
    const { managers, calls } = createManagersFixture();
    await expect(managers.writeAgentFile("plain", "SOUL.md", content)).rejects.toMatchObject(refused("invalid_request", words));
    expect(calls).toEqual([]);
  });
});

describe("bindings of an agent", () => {
  const own = (channel: string) => ({ agentId: "writer", match: { channel } });
  const others = { agentId: "main", match: { channel: "telegram", accountId: "a" } };

  it("bindings of an agent are replaced by fewer bindings without a change of those of other agents or their order", async () => {
    const config = configured([own("slack"), others, own("discord")]);
    const { managers, called } = createManagersFixture(config.answers);
    const read = await managers.listBindings("writer");
    expect(read?.bindings).toEqual([own("slack"), own("discord")]);
    const one = await managers.setBindings("writer", [{ match: { channel: "irc" } }], read?.etag);
    expect(one.bindings).toEqual([own("irc")]);
    expect(config.source.bindings).toEqual([own("irc"), others]);
    expect(called("config.patch")).toMatchObject([{ replacePaths: ["bindings"] }]);
    await expect(managers.setBindings("writer", [], read?.etag)).rejects.toMatchObject(refused("stale_write"));
    expect((await managers.setBindings("writer", [], one.etag)).bindings).toEqual([]);
    expect(config.source.bindings).toEqual([others]);
  });

  it("bindings of an agent are set on an agent without bindings", async () => {
    const config = configured();
    const { managers } = createManagersFixture(config.answers);
    expect((await managers.setBindings("writer", [own("irc"), own("slack")])).bindings).toEqual([own("irc"), own("slack")]);
  });

  it.each([
    [[others], /bindings\[0\]\.agentId/],
    [[own("irc"), { match: {} }], /bindings\[1\]\.match\.channel/],
  ])("bindings of an agent are rejected if invalid: %j", async (bindings, words) => {
    const { managers, called } = createManagersFixture(configured().answers);
    await expect(managers.setBindings("writer", bindings)).rejects.toMatchObject(refused("invalid_request", words));
    expect(called("config.patch")).toEqual([]);
  });

  it("bindings of an agent of an unknown agent do not exist", async () => {
    const { managers } = createManagersFixture(configured().answers);
    expect(await managers.listBindings("nobody")).toBeNull();
    await expect(managers.setBindings("nobody", [])).rejects.toMatchObject(refused("not_found"));
  });
});
