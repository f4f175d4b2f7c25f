import { link, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { createTextEtag } from "../../../adapters/openclaw/manage/etag.ts";
import { createZipFile } from "../../../adapters/openclaw/manage/zip-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { createManagersFixture, recorded } from "./manage-fixture.ts";

const refused = (code: string, words: RegExp | string = /./) => ({ name: "ManagementError", code, message: expect.stringMatching(words) });
const documentOf = (name: string, description = "Greets.") => `---\nname: ${name}\ndescription: ${description}\n---\n\nSay hi.\n`;
const exists = (file: string) =>
  readFile(file, "utf8").then(
    (content) => content,
    () => null,
  );

/** A gateway on this host. It lists the skills in its directories and one skill of OpenClaw. */
async function onHost() {
  const root = await temporaryDirectory();
  const directories = { stateDir: path.join(root, "state"), workspace: path.join(root, "ws"), shipped: path.join(root, "shipped") };
  const shared = path.join(directories.stateDir, "skills");
  const own = path.join(directories.workspace, "skills");
  for (const directory of [shared, own, path.join(directories.shipped, "tmux")]) await mkdir(directory, { recursive: true });
  await writeFile(path.join(directories.shipped, "tmux/SKILL.md"), documentOf("tmux"));
  const rowsOf = async (directory: string, source: string) =>
    (await readdir(directory)).map((name) => ({
      name,
      source,
      baseDir: path.join(directory, name),
      filePath: path.join(directory, name, "SKILL.md"),
    }));
  const answers = {
    "skills.status": async () => {
      const rows = [
        ...(await rowsOf(own, "openclaw-workspace")),
        ...(await rowsOf(shared, "openclaw-managed")),
        ...(await rowsOf(directories.shipped, "openclaw-bundled")),
      ];
      const skills = rows.filter(({ name }, index) => rows.findIndex((row) => row.name === name) === index);
      return { workspaceDir: directories.workspace, managedSkillsDir: shared, skills };
    },
    "agents.workspace.get": async (params: Record<string, unknown>) => ({
      file: { content: await readFile(path.join(directories.workspace, String(params["path"])), "utf8") },
    }),
  };
  return { root, shared, own, answers, ...createManagersFixture(answers, { stateDir: directories.stateDir }), ...directories };
}

describe("skills of a gateway on another host", () => {
  it("skills of a gateway on another host are listed without their paths", async () => {
    const skills = await createManagersFixture().managers.listSkills();
    expect(skills.map(({ name }) => name)).toEqual(["greet", "shared", "tmux"]);
    expect(skills[0]).toMatchObject({ source: "openclaw-workspace", eligible: true });
    expect(JSON.stringify(skills)).not.toContain("/srv/openclaw");
  });

  it("skills of a gateway on another host are read through the gateway if they are in the agent's workspace, and otherwise rejected with the reason", async () => {
    const { managers, called } = createManagersFixture();
    const skill = await managers.readSkill("greet");
    expect(skill).toEqual({ name: "greet", content: expect.stringContaining("Say hi"), etag: createTextEtag(skill?.content ?? "") });
    expect(called("agents.workspace.get")).toEqual([{ agentId: "plain", path: "skills/greet/SKILL.md" }]);
    await expect(managers.readSkill("tmux")).rejects.toMatchObject(refused("not_supported", /BRIDGE_OPENCLAW_STATE_DIR/));
    await expect(managers.deleteSkill("greet")).rejects.toMatchObject(refused("not_supported", /BRIDGE_OPENCLAW_STATE_DIR/));
    expect(await managers.readSkill("nothing")).toBeNull();
    const gone = { code: "INVALID_REQUEST", message: "workspace file not found", details: { type: "workspace_file_not_found" } };
    const late = createManagersFixture({ "agents.workspace.get": () => Promise.reject(new GatewayError(gone)) });
    expect(await late.managers.readSkill("greet")).toBeNull();
    expect(await managers.deleteSkill("nothing")).toBe(false);
  });

  /** A gateway that stores uploads. */
  const uploads = (answers: Parameters<typeof createManagersFixture>[0] = {}) => {
    let content: string | null = null;
    const chunks: Buffer[] = [];
    const bench = createManagersFixture({
      "skills.upload.begin": () => ({ uploadId: "u1" }),
      "skills.upload.chunk": ({ dataBase64 }) => chunks.push(Buffer.from(String(dataBase64), "base64")),
      "skills.upload.commit": () => ({}),
      "skills.install": () => {
        content = documentOf("greet", "New.");
        return { ok: true };
      },
      "agents.workspace.get": (params) => (content === null ? recorded.skillFile.answer : { file: { ...params, content } }),
      ...answers,
    });
    return { ...bench, archive: () => Buffer.concat(chunks) };
  };

  it("skills of a gateway on another host are uploaded as an archive, and replaced only if the etag matches", async () => {
    const { managers, called, archive } = uploads();
    const read = await managers.readSkill("greet");
    const content = documentOf("greet", "New.");
    await expect(managers.writeSkill("greet", content, "old")).rejects.toMatchObject(refused("stale_write"));
    expect(called("skills.upload.begin")).toEqual([]);
    expect(await managers.writeSkill("greet", content, read?.etag)).toEqual({ name: "greet", content, etag: createTextEtag(content) });
    expect(archive()).toEqual(createZipFile("SKILL.md", Buffer.from(content)));
    const upload = { slug: "greet", sha256: createTextEtag(archive()), force: true };
    expect(called("skills.upload.begin")).toEqual([{ kind: "skill-archive", sizeBytes: archive().length, ...upload }]);
    expect(called("skills.install")).toEqual([{ agentId: "plain", source: "upload", uploadId: "u1", ...upload }]);
  });

  it("skills of a gateway on another host are not replaced if the gateway would delete their other files, or if all agents share them", async () => {
    const entries = [{ name: "SKILL.md" }, { name: "run.sh" }];
    const { managers, called } = uploads({ "agents.workspace.list": () => ({ entries }) });
    await expect(managers.writeSkill("greet", documentOf("greet"))).rejects.toMatchObject(refused("not_supported", /other files/));
    await expect(managers.writeSkill("shared", documentOf("shared"))).rejects.toMatchObject(refused("not_supported", /STATE_DIR/));
    expect(called("skills.upload.begin")).toEqual([]);
  });

  it("skills of a gateway on another host are rejected with the setting of the gateway that allows uploads", async () => {
    const message = "Uploaded skill archive installs are disabled by skills.install.allowUploadedArchives";
    const off = () => {
      throw new GatewayError({ code: "UNAVAILABLE", message });
    };
    const { managers } = uploads({ "skills.upload.begin": off });
    await expect(managers.writeSkill("greet", documentOf("greet"))).rejects.toMatchObject(
      refused("not_supported", /Set skills\.install\.allowUploadedArchives to true/),
    );
  });

  it.each([
    ["Greet", documentOf("Greet"), /^name: /],
    ["a..b", documentOf("a..b"), /^name: /],
    ["-a", documentOf("-a"), /^name: /],
    ["greet", "Say hi.", /frontmatter/],
    ["greet", "---\nname: [\n---\n", /frontmatter/],
    ["greet", "---\nname: greet\n---\n", /description/],
    ["greet", "---\nname: greet\ndescription: ' '\n---\n", /description/],
    ["greet", documentOf("other"), /must be greet/],
    ["greet", `${documentOf("greet")}\0`, /NUL/],
    ["greet", documentOf("greet") + "é".repeat(128_000), /bytes/],
  ])("skills of a gateway on another host are not written as %j with %j", async (name, content, words) => {
    const { managers, calls } = createManagersFixture();
    await expect(managers.writeSkill(name, content)).rejects.toMatchObject(refused("invalid_request", words));
    expect(calls).toEqual([]);
  });
});

describe("skills of a gateway on this host", () => {
  it("skills of a gateway on this host are written for all agents, changed in their directory without a change of other files, and deleted", async () => {
    const { managers, shared, calls } = await onHost();
    const one = await managers.writeSkill("greet", documentOf("greet", "One."));
    expect(await exists(path.join(shared, "greet/SKILL.md"))).toBe(one.content);
    await writeFile(path.join(shared, "greet/run.sh"), "#!/bin/sh\n");
    const two = await managers.writeSkill("greet", documentOf("greet", "Two."), one.etag);
    await expect(managers.writeSkill("greet", documentOf("greet", "Three."), one.etag)).rejects.toMatchObject(refused("stale_write"));
    expect((await readdir(path.join(shared, "greet"))).sort()).toEqual(["SKILL.md", "run.sh"]);
    expect(await managers.readSkill("greet")).toEqual(two);
    await expect(managers.deleteSkill("greet", one.etag)).rejects.toMatchObject(refused("stale_write"));
    expect(await managers.deleteSkill("greet", two.etag)).toBe(true);
    expect(await readdir(shared)).toEqual([]);
    expect(calls.some(({ method }) => method.startsWith("skills.upload"))).toBe(false);
  });

  it("skills of a gateway on this host accept only one of two writes with the same etag, although the gateway does not compare", async () => {
    const { managers } = await onHost();
    const { etag } = await managers.writeSkill("greet", documentOf("greet"));
    const outcomes = await Promise.allSettled(
      ["One.", "Two."].map((text) => managers.writeSkill("greet", documentOf("greet", text), etag)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(outcomes[1]).toMatchObject({ reason: refused("stale_write") });
    expect((await managers.readSkill("greet"))?.content).toContain("One.");
  });

  it("skills of a gateway on this host are changed in the agent's workspace if they are there", async () => {
    const { managers, own, shared } = await onHost();
    await mkdir(path.join(own, "greet"));
    await writeFile(path.join(own, "greet/SKILL.md"), documentOf("greet"));
    const { content } = await managers.writeSkill("greet", documentOf("greet", "Two."));
    expect(await exists(path.join(own, "greet/SKILL.md"))).toBe(content);
    expect(await managers.deleteSkill("greet")).toBe(true);
    expect([await readdir(own), await readdir(shared)]).toEqual([[], []]);
  });

  it("skills of a gateway on this host hide a skill of OpenClaw with the same name, which can be read and not deleted", async () => {
    const { managers, shipped } = await onHost();
    const tmux = await managers.readSkill("tmux");
    expect(tmux?.content).toBe(documentOf("tmux"));
    await expect(managers.deleteSkill("tmux")).rejects.toMatchObject(refused("not_supported", /belongs to OpenClaw/));
    await managers.writeSkill("tmux", documentOf("tmux", "Ours."), tmux?.etag);
    expect((await managers.readSkill("tmux"))?.content).toContain("Ours.");
    expect(await managers.deleteSkill("tmux")).toBe(true);
    expect(await managers.readSkill("tmux")).toEqual(tmux);
    expect(await exists(path.join(shipped, "tmux/SKILL.md"))).toBe(documentOf("tmux"));
  });

  it("skills of a gateway on this host are not written through a link that replaces the directory of skills", async () => {
    const { managers, own, root } = await onHost();
    const victim = path.join(root, "victim");
    await mkdir(path.join(victim, "theirs"), { recursive: true });
    await writeFile(path.join(victim, "theirs/SKILL.md"), documentOf("theirs"));
    await rm(own, { recursive: true });
    await symlink(victim, own);
    await expect(managers.writeSkill("theirs", documentOf("theirs", "Two."))).rejects.toMatchObject(refused("conflict", /link/));
    await expect(managers.deleteSkill("theirs")).rejects.toMatchObject(refused("conflict", /link/));
    expect(await exists(path.join(victim, "theirs/SKILL.md"))).toBe(documentOf("theirs"));
  });

  it("skills of a gateway on this host are not read or written through links out of their directories", async () => {
    const { managers, root, own, shared } = await onHost();
    const outside = path.join(root, "outside");
    await mkdir(path.join(outside, "kept"), { recursive: true });
    await writeFile(path.join(outside, "SKILL.md"), documentOf("linked"));
    await writeFile(path.join(outside, "secret"), "secret");
    await symlink(outside, path.join(shared, "linked"));
    await mkdir(path.join(shared, "inner"));
    await symlink(path.join(outside, "secret"), path.join(shared, "inner/SKILL.md"));
    await symlink(path.join(outside, "kept"), path.join(shared, "inner/kept"));
    const away = refused("conflict", /link/);
    await expect(managers.readSkill("inner")).rejects.toMatchObject(away);
    await expect(managers.writeSkill("inner", documentOf("inner"))).rejects.toMatchObject(away);
    await expect(managers.writeSkill("linked", documentOf("linked", "Two."))).rejects.toMatchObject(away);
    await expect(managers.deleteSkill("linked")).rejects.toMatchObject(away);
    expect(await managers.deleteSkill("inner")).toBe(true);
    expect((await readdir(outside)).sort()).toEqual(["SKILL.md", "kept", "secret"]);
    expect(await exists(path.join(outside, "secret"))).toBe("secret");
    expect(await readdir(own)).toEqual([]);
  });

  it("skills of a gateway on this host are unavailable if Bridge cannot write, with an error that contains no paths", async () => {
    const { answers, shared, stateDir } = await onHost();
    await mkdir(path.join(shared, "greet/SKILL.md"), { recursive: true });
    const { managers } = createManagersFixture(answers, { stateDir });
    const failed = await managers.readSkill("greet").catch((error: unknown) => error);
    expect(failed).toMatchObject(refused("unavailable", /EISDIR.*permissions/));
    expect((failed as Error).message).not.toContain(stateDir);
  });

  it("skills of a gateway on this host are not changed if BRIDGE_OPENCLAW_STATE_DIR is not the gateway's directory", async () => {
    const { answers, shared } = await onHost();
    const { managers } = createManagersFixture(answers, { stateDir: await temporaryDirectory() });
    await expect(managers.writeSkill("greet", documentOf("greet"))).rejects.toMatchObject(
      refused("not_supported", /is not the state directory/),
    );
    expect(await readdir(shared)).toEqual([]);
  });
});

describe("files of an agent on this host", () => {
  const fileAnswer = (workspace: string, content: string) => ({
    workspace,
    file: { name: "SOUL.md", missing: false, hash: createTextEtag(content), content },
  });

  it("files of an agent on this host are deleted if their content has the gateway's etag", async () => {
    const workspace = await temporaryDirectory();
    const file = path.join(workspace, "SOUL.md");
    await writeFile(file, "# Soul");
    const { managers } = createManagersFixture({ "agents.files.get": () => fileAnswer(workspace, "# Soul") }, { stateDir: "/srv/state" });
    await expect(managers.deleteAgentFile("writer", "SOUL.md", "old")).rejects.toMatchObject(refused("stale_write"));
    expect(await managers.deleteAgentFile("writer", "SOUL.md", createTextEtag("# Soul"))).toBe(true);
    expect(await exists(file)).toBeNull();
  });

  it("files of an agent on this host are not deleted if the gateway runs on another host or the file is a link", async () => {
    const workspace = await temporaryDirectory();
    const file = path.join(workspace, "SOUL.md");
    const { managers } = createManagersFixture({ "agents.files.get": () => fileAnswer(workspace, "# Soul") }, { stateDir: "/srv/state" });
    const away = refused("not_supported", /not exist on this host/);
    await expect(managers.deleteAgentFile("writer", "SOUL.md")).rejects.toMatchObject(away);
    await writeFile(file, "# Another");
    await expect(managers.deleteAgentFile("writer", "SOUL.md")).rejects.toMatchObject(away);
    await writeFile(file, "# Soul");
    await link(file, path.join(workspace, "again"));
    await expect(managers.deleteAgentFile("writer", "SOUL.md")).rejects.toMatchObject(away);
    expect(await exists(file)).toBe("# Soul");
    const elsewhere = createManagersFixture({ "agents.files.get": () => fileAnswer(workspace, "# Soul") });
    await expect(elsewhere.managers.deleteAgentFile("writer", "SOUL.md")).rejects.toMatchObject(refused("not_supported", /STATE_DIR/));
  });
});

describe("dependencies of a skill", () => {
  it("dependencies of a skill are installed if their programs are missing, and those still missing are listed", async () => {
    let isInstalled = false;
    const [, shared] = (recorded.skills.answer as { skills: Record<string, unknown>[] }).skills;
    const install = ["one", "two", "three"].map((id) => ({ id, label: `Install ${id}`, bins: [id === "two" ? "there" : "tool"] }));
    const { managers, called } = createManagersFixture({
      "skills.status": () => ({
        ...(recorded.skills.answer as object),
        skills: [{ ...shared, install, missing: { bins: isInstalled ? [] : ["tool"], env: ["API_KEY"] } }],
      }),
      "skills.install": () => {
        isInstalled = true;
        return { ok: true };
      },
    });
    const done = await managers.installSkillDependencies("shared");
    expect(done).toEqual({ installed: ["one", "three"], detail: "Still missing: environment variables API_KEY." });
    expect(called("skills.install").map(({ agentId, name, installId }) => [agentId, name, installId])).toEqual([
      ["plain", "shared", "one"],
      ["plain", "shared", "three"],
    ]);
  });

  it("dependencies of a skill that fail to install are reported with the gateway's message, and a complete skill installs nothing", async () => {
    const { managers } = createManagersFixture();
    await expect(managers.installSkillDependencies("shared")).rejects.toMatchObject(
      refused("unavailable", /shared failed: Blocked hostname/),
    );
    expect(await managers.installSkillDependencies("greet")).toEqual({ installed: [], detail: null });
    await expect(managers.installSkillDependencies("nothing")).rejects.toMatchObject(refused("not_found"));
  });
});
