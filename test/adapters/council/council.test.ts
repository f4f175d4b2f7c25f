import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CouncilReport, PanelReport } from "bridge-council";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { expert, finding, openCouncil, shareBridge, startBridge } from "./open-council.ts";

shareBridge();

describe("the panel of one runtime over HTTP", () => {
  test("the panel of one runtime over HTTP with intensity quick asks each role once and reports", async () => {
    const { dispatch, asked, workspace, eventLog, ended } = await openCouncil({
      [expert]: { outputs: [finding("HIGH", "Tokens never expire")], confidence: "high" },
    });
    expect((await dispatch({ intensity: "quick" })).status).toBe(202);
    const { output, outputs, usage, costUsd } = await ended("completed");
    const report = outputs as PanelReport;
    expect(report).toMatchObject({
      bridge: "command",
      model_family: "multi-provider",
      connection_used: "cli",
      session_id: "login-review",
      capability_profile: "inspect",
      status: "COMPLETED",
      debate_rounds: 0,
      verdict: "CONCERNS",
      outputs: [{ id: "C001", status: "confirmed", severity: "HIGH", domain: "security", agent: expert }],
    });
    expect(asked()).toHaveLength(3);
    expect(asked().every(({ profile }) => profile === "inspect")).toBe(true);
    expect({ usage, costUsd }).toEqual({ usage: { inputTokens: 300, outputTokens: 30 }, costUsd: 0.75 });
    expect(report.artifacts).toEqual([
      expect.stringMatching(/^\.outputs\/bridges\/command-\d{8}-\d{6}-login-review\.jsonl$/),
      expect.stringMatching(/\.md$/),
    ]);
    expect(readFileSync(path.join(workspace, report.artifacts[1] ?? ""), "utf8")).toContain("### C001 HIGH: Tokens never expire");
    expect(output).toContain("# command: CONCERNS");
    expect(eventLog().map(({ event }) => event)).toEqual([
      "bridge_start",
      "preflight",
      "preflight",
      "dispatch",
      "output",
      "bridge_complete",
    ]);
    expect(eventLog()[1]).toEqual({
      event: "preflight",
      step: "availability_check",
      result: "found",
      path: process.execPath,
      connection: "cli",
      detail: "healthy",
    });
  });

  test("the panel of one runtime over HTTP with intensity standard handles challenges, withdrawals, added domains, prose around JSON, invalid answers and silence", async () => {
    const { dispatch, asked, ended } = await openCouncil({
      [`${expert} 1`]: {
        outputs: [finding("CRITICAL", "Tokens never expire"), finding("HIGH", "Passwords are in the logs")],
        cross_domain_signals: [{ domain: "database", reason: "Where are the tokens kept?" }],
      },
      "Challenger 1": "I have nothing to say in JSON.",
      "Challenger 2": `Well.\n{"challenges": [{"target_finding_id": "C001", "challenge_text": "They expire."}, {"target_finding_id": "C002", "challenge_text": "Only hashes."}]} That is all.`,
      [`${expert} 2`]: {
        outputs: [
          { id: "C001", status: "withdrawn" },
          { id: "C002", status: "confirmed" },
        ],
      },
      "Database Engineer 2": { outputs: [finding("MEDIUM", "Tokens are stored as they are")] },
      "Integration Checker 2": "silence",
    });
    await dispatch({ scope: "1 file" }, { timeoutSeconds: 20 });
    const report = (await ended("completed")).outputs as PanelReport;
    expect(report).toMatchObject({ status: "COMPLETED", debate_rounds: 1, verdict: "CONCERNS", withdrawn_outputs: [{ id: "C001" }] });
    expect(report.outputs.map(({ id, status, domain }) => [id, status, domain])).toEqual(
      expect.arrayContaining([["C002", expect.stringMatching(/confirmed|disputed/), "security"]]),
    );
    expect(asked().filter(({ asksAgain }) => asksAgain)).toMatchObject([{ role: "Challenger", round: 1 }]);
    expect(report.roles.filter(({ answered }) => !answered)).toEqual(
      expect.arrayContaining([
        { round: 1, role: "Challenger", domain: "cross-domain", answered: false, reason: "unreadable answer, twice", summary: null },
        {
          round: 2,
          role: "Integration Checker",
          domain: "cross-domain",
          answered: false,
          reason: expect.stringMatching(/^timeout_after_\d+s$/),
          summary: null,
        },
      ]),
    );
  });

  test("the panel of one runtime over HTTP with intensity thorough continues until all outputs are settled", async () => {
    const { dispatch, asked, ended } = await openCouncil({
      [`${expert} 1`]: { outputs: [finding("HIGH", "Tokens never expire")] },
      "Challenger 2": { challenges: [{ target_finding_id: "C001", challenge_text: "They expire after a day." }] },
      [`${expert} 2`]: { outputs: [finding("LOW", "Cookies have no name of their own")] },
      [`${expert} 3`]: { outputs: [{ id: "C001", status: "revised", ...finding("MEDIUM", "Tokens live for a day") }] },
    });
    await dispatch({ intensity: "thorough" });
    const report = (await ended("completed")).outputs as PanelReport;
    expect(report).toMatchObject({
      status: "COMPLETED",
      debate_rounds: 2,
      verdict: "PASS",
      outputs: [
        { id: "C001", status: "revised", severity: "MEDIUM", title: "Tokens live for a day" },
        { id: "C002", status: "discovered", severity: "LOW" },
      ],
      disputed_outputs: [],
      prompt_size_chars_r3: expect.any(Number),
    });
    expect(asked().map(({ round }) => round)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
  });

  test("the panel of one runtime over HTTP reports the first round when the runtime crashes in the second", async () => {
    const { dispatch, ended } = await openCouncil({
      [`${expert} 1`]: { outputs: [finding("HIGH", "Tokens never expire")] },
      [`${expert} 2`]: "crash",
      "Challenger 2": "crash",
      "Integration Checker 2": "crash",
    });
    await dispatch();
    const report = (await ended("completed")).outputs as PanelReport;
    expect(report).toMatchObject({ status: "COMPLETED", debate_rounds: 0, verdict: "CONCERNS", outputs: [{ id: "C001" }] });
    expect(report.roles.filter(({ answered }) => !answered)).toHaveLength(3);
  });

  test("the panel of one runtime over HTTP fails if its runtime is not loaded, and reports it", async () => {
    const { dispatch, ended, eventLog } = await openCouncil({});
    await dispatch({ provider: undefined });
    expect(await ended("failed")).toMatchObject({
      status: "error",
      errorCode: "adapter_offline",
      error: expect.stringMatching(/^No role of the council answered\. codex: adapter_offline: not loaded; add it to BRIDGE_ADAPTERS\.$/),
      output: expect.stringContaining("# codex: SKIPPED"),
      outputs: {
        bridge: "codex",
        status: "SKIPPED",
        skip_reason: expect.stringMatching(/^adapter_offline/),
        verdict: null,
        agents_spawned: 0,
        connection_used: null,
        prompt_size_chars_r1: null,
        roles: [],
      },
    });
    expect(eventLog()).toMatchObject([
      { event: "bridge_start" },
      { event: "preflight", step: "availability_check", result: "missing", path: null, detail: "not loaded" },
      { event: "bridge_complete", status: "SKIPPED" },
    ]);
  });

  test("the panel of one runtime over HTTP rejects an invalid input with the names of its fields", async () => {
    const { dispatch } = await openCouncil({});
    for (const [changes, field] of [
      [{ review_id: "other" }, "bridgeInput.review_id"],
      [{ domains: [] }, "bridgeInput.domains"],
      [{ domain: "x" }, "bridgeInput.domain"],
      [{ provider: "../../../outside" }, "bridgeInput.provider"],
      [{ session_id: "../outside" }, "bridgeInput.session_id"],
      [{ domains: ["cross-domain"] }, "bridgeInput.domains.0"],
    ] as const) {
      const answer = await dispatch(changes);
      expect(await answer.json()).toMatchObject({ status: 400, code: "invalid_request", errors: [{ path: field }] });
    }
  });

  test("the panel of one runtime over HTTP skips a runtime that the workspace's settings disable", async () => {
    const { dispatch, asked, ended, workspace } = await openCouncil({});
    mkdirSync(workspace, { recursive: true });
    writeFileSync(path.join(workspace, ".bridge-settings.json"), JSON.stringify({ bridges: { command: { enabled: false } } }));
    await dispatch();
    const skip_reason = "disabled by the settings of the workspace";
    expect(await ended("failed")).toMatchObject({
      errorCode: "adapter_offline",
      outputs: { status: "SKIPPED", skip_reason, agents_spawned: 0 },
    });
    expect(asked()).toEqual([]);
  });

  test("the panel of one runtime over HTTP reports stale settings, and an invalid field does not enable a disabled runtime", async () => {
    const { dispatch, asked, ended, workspace } = await openCouncil({});
    mkdirSync(workspace, { recursive: true });
    const settings = { bridges: { command: { enabled: false } }, reasoning_level: "low", updated: "2020-01-01T00:00:00Z", ttl_hours: 24 };
    writeFileSync(path.join(workspace, ".bridge-settings.json"), JSON.stringify(settings));
    await dispatch();
    expect(await ended("failed")).toMatchObject({
      outputs: {
        status: "SKIPPED",
        notes: [
          ".bridge-settings.json: reasoning_level must be medium, high or xhigh, and is ignored.",
          expect.stringContaining(".bridge-settings.json is older than its ttl_hours."),
        ],
      },
    });
    expect(asked()).toEqual([]);
  });

  test("the panel of one runtime over HTTP passes the reasoning level of the settings to every role's runtime", async () => {
    const { dispatch, asked, ended, workspace } = await openCouncil({});
    mkdirSync(workspace, { recursive: true });
    writeFileSync(path.join(workspace, ".bridge-settings.json"), JSON.stringify({ reasoning_level: "high" }));
    await dispatch({ intensity: "quick" });
    expect(await ended("completed")).toMatchObject({ outputs: { status: "COMPLETED", reasoning_level: "high" } });
    expect(asked().map(({ reasoningLevel }) => reasoningLevel)).toEqual(["high", "high", "high"]);
  });

  test("the panel of one runtime over HTTP asks no questions if it needs more than the operator allows", async () => {
    const { dispatch, asked, ended } = await openCouncil(
      {},
      await startBridge(await temporaryDirectory(), { BRIDGE_COUNCIL_MAX_RUNS: "5" }),
    );
    await dispatch();
    expect(await ended("failed")).toMatchObject({
      errorCode: "budget_exceeded",
      error: expect.stringContaining("6 questions, but only 5 are allowed"),
    });
    expect(asked()).toEqual([]);
  });

  test.each([
    ["review", undefined, "inspect"],
    ["review", "modify", "inspect"],
    ["implementation", "modify", "modify"],
  ])(
    "the panel of one runtime over HTTP of task type %s with the profile %s in the dispatch asks its roles with %s",
    async (task_type, profile, ofRoles) => {
      const { bridge, dispatch, asked, ended, input } = await openCouncil({});
      const body = { provider: "bridge-codex", agentId: "writer", bridgeInput: { ...input, task_type, intensity: "quick" }, profile };
      const preview = await bridge.call("POST", "/api/v2/dispatch/check", body);
      expect(await preview.json()).toMatchObject({ wouldAnswer: 202, task: { resolved: { profile: ofRoles } } });
      await dispatch({ task_type, intensity: "quick" }, { profile });
      expect(await ended("completed")).toMatchObject({ outputs: { capability_profile: ofRoles } });
      expect(asked().map((question) => question.profile)).toEqual([ofRoles, ofRoles, ofRoles]);
    },
  );

  test.each(["bridge-codex", "deep-council"])("%s rejects an implementation without the profile modify", async (provider) => {
    const { bridge, dispatch, asked, input } = await openCouncil({});
    const problem = {
      ...{ status: 422, code: "profile_conflict" },
      errors: [
        {
          path: "profile",
          message: expect.stringMatching(/^must be "modify" if task_type is "implementation".*; send this profile, or another/),
        },
      ],
    };
    for (const profile of [undefined, "inspect"]) {
      const answer = await dispatch({ task_type: "implementation" }, { provider, profile });
      expect(await answer.json()).toMatchObject(problem);
    }
    const check = async (task_type: string, profile?: string) =>
      (
        await bridge.call("POST", "/api/v2/dispatch/check", {
          ...{ agentId: "a", provider, bridgeInput: { ...input, task_type }, ...(profile !== undefined && { profile }) },
        })
      ).json();
    expect(await check("implementation")).toMatchObject({ wouldAnswer: 422, problem });
    expect(await check("review")).toMatchObject({ task: { resolved: { profile: "inspect", approvals: "deny" } } });
    expect(await check("implementation", "modify")).toMatchObject({ task: { resolved: { profile: "modify", approvals: "allow" } } });
    expect(asked()).toEqual([]);
  });
});

describe("a stopped council", () => {
  const waiting = { [expert]: "silence", Challenger: "silence", "Integration Checker": "silence" };

  test("a stopped council cancels its child tasks when it is canceled", async () => {
    const { bridge, dispatch, asked, ended, taskId } = await openCouncil(waiting);
    await dispatch();
    await expect.poll(() => asked().length, { timeout: 10_000 }).toBe(3);
    expect((await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`)).status).toBe(202);
    await ended("cancelled");
    const children = (await (await bridge.call("GET", `/api/v2/tasks?parentTaskId=${taskId}`)).json()) as { data: { state: string }[] };
    expect(children.data.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "cancelled"]);
  });

  test("a stopped council fails after a crash of Bridge in the second round, with a complete event log", async () => {
    const { bridge, dispatch, asked, start, eventLog, ended, taskId } = await openCouncil(
      {
        ...waiting,
        [`${expert} 1`]: { outputs: [finding("HIGH", "Tokens never expire")] },
        "Challenger 1": { outputs: [] },
        "Integration Checker 1": { outputs: [] },
      },
      await startBridge(await temporaryDirectory()),
    );
    await dispatch();
    await expect.poll(() => asked().filter(({ round }) => round === 2).length, { timeout: 10_000 }).toBe(2);
    bridge.signal("SIGKILL");
    await bridge.exited;
    const next = await start();
    expect(await ended("failed", next)).toMatchObject({ errorCode: "bridge_restarted" });
    const children = (await (await next.call("GET", `/api/v2/tasks?parentTaskId=${taskId}`)).json()) as { data: { state: string }[] };
    expect(children.data.map(({ state }) => state).sort()).toEqual(["completed", "completed", "completed", "failed", "failed"]);
    expect(eventLog().map(({ event }) => event)).toEqual(["bridge_start", "preflight", "preflight", "dispatch", "output"]);
  });
});

describe("the deep council over HTTP", () => {
  test("the deep council over HTTP asks available runtimes, records missing ones and writes its report", async () => {
    const { bridge, dispatch, workspace, eventLog, ended, taskId } = await openCouncil({
      [`${expert} 1`]: { outputs: [finding("HIGH", "Tokens never expire")] },
      "Devil's Advocate": { challenges: [{ target_finding_id: "D001", challenge_text: "They expire." }] },
      "Debate Coordinator": { outputs: [{ id: "D001", status: "confirmed" }] },
    });
    mkdirSync(workspace, { recursive: true });
    writeFileSync(
      path.join(workspace, ".bridge-settings.json"),
      JSON.stringify({ bridges: { gemini: { enabled: false } }, updated: "2020-01-01T00:00:00Z", ttl_hours: 24 }),
    );
    await dispatch(
      { provider: undefined, providers: ["command", "codex", "gemini"], domains: undefined, scope: "the login and its security" },
      { provider: "deep-council" },
    );
    const { output, outputs } = await ended("completed");
    const report = outputs as CouncilReport;
    expect(report).toMatchObject({
      type: "deep-council",
      review_id: "login-review",
      status: "COMPLETED",
      verdict: "CONCERNS",
      bridges_available: ["command"],
      skip_reasons: expect.arrayContaining([
        { bridge: "codex", reason: expect.stringMatching(/^adapter_offline: not loaded/) },
        { bridge: "gemini", reason: "disabled by the settings of the workspace" },
      ]),
      domains_covered: ["security"],
      partial_coverage: true,
      synthesis_notes: [expect.stringContaining("is older than its ttl_hours")],
    });
    expect(report.artifacts.map((file) => file.replace(/\d{8}-\d{6}/, "TIME"))).toEqual([
      ".outputs/council/TIME-council-login-review.jsonl",
      ".outputs/council/TIME-council-login-review.json",
      ".outputs/council/TIME-council-login-review.md",
    ]);
    expect(output).toContain("# Council login-review: CONCERNS");
    expect(eventLog(".outputs/council").map(({ event }) => event)).toContain("stage_a");
    const events = (await (await bridge.call("GET", `/api/v2/tasks/${taskId}/events?limit=200`)).json()) as {
      data: { type: string; data: { phase?: string; provider?: string } }[];
    };
    const progress = events.data.flatMap(({ type, data }) => (type === "execution.progress" ? [data] : []));
    const phases = new Set(progress.map(({ phase }) => phase));
    expect([...phases].sort()).toEqual(["analysis", "bridges", "challenge", "cross-debate", "finding", "response"]);
    expect(new Set(progress.map(({ provider }) => provider))).toEqual(new Set(["command"]));
  });

  test("the deep council over HTTP fails with output_invalid if no answer is valid, and names the runtime", async () => {
    const { dispatch, ended } = await openCouncil({ [expert]: "prose", Challenger: "prose", "Integration Checker": "prose" });
    await dispatch({ provider: undefined, providers: ["command", "codex"] }, { provider: "deep-council" });
    const { output, ...result } = await ended("failed");
    expect(result).toMatchObject({
      errorCode: "output_invalid",
      error: expect.stringContaining("No runtime completed its part of the council."),
      outputs: { status: "ABORTED", partial_coverage: true },
    });
    expect(result.error).toContain("command: output_invalid: unreadable answer, twice.");
    expect(output).toContain("## Runtimes that did not take part");
  });

  test("the deep council over HTTP fails if no runtime is available, and reports the skipped ones", async () => {
    const { dispatch, ended } = await openCouncil({});
    await dispatch({ provider: undefined, providers: ["claude", "codex"] }, { provider: "deep-council" });
    expect(await ended("failed")).toMatchObject({
      errorCode: "adapter_offline",
      outputs: { status: "ABORTED", partial_coverage: true, bridges_skipped: ["claude", "codex"] },
    });
  });
});
