import type { ExecutionResult } from "#contract";
import type { Emit, Run } from "../../adapters/in-memory-adapter.ts";
import type { PastClock } from "./past-clock.ts";

type Answer = Promise<Partial<ExecutionResult>>;
type Ask = (call: { toolCallId: string; toolName: string; input: unknown }) => Promise<{ decision: string }>;

/** What a script uses to act. */
interface Stage {
  emit: Emit;
  ask: Ask;
  /** Works until the task is canceled. */
  keepWorking(): Promise<never>;
  /** Emits text after some seconds. */
  say(content: string, seconds?: number): Promise<void>;
  /** Calls a tool for some seconds. */
  call(toolName: string, input: unknown, output: unknown, options?: { seconds?: number; isError?: boolean }): Promise<void>;
}

/** Creates agents that play a day of a team: each message selects what its agent does. A role of a council is played, too. */
export function createScripts(clock: PastClock): { run: Run; continueWork(): void } {
  const working = new Set<() => void>();
  const run: Run = async (request, emit, signal, requestApproval) => {
    const { message, metadata, taskId } = request;
    const role = (metadata as { council?: CouncilRole } | undefined)?.council;
    if (role !== undefined) return playRole(role, clock);
    let calls = 0;
    const stage: Stage = {
      ...{ emit, ask: (call) => requestApproval({ taskId, ...call }) },
      async say(content, seconds = 4) {
        clock.advance(seconds);
        emit("assistant.text", { content });
        await settle();
      },
      async call(toolName, input, output, { seconds = 2, isError = false } = {}) {
        clock.advance(3);
        calls += 1;
        const toolCallId = `call-${calls}`;
        emit("tool.invoked", { toolCallId, toolName, input });
        await settle();
        clock.advance(seconds);
        emit("tool.completed", { toolCallId, toolName, output, isError });
        await settle();
      },
      keepWorking() {
        working.add(() =>
          emit("tool.invoked", { toolCallId: "call-last", toolName: "shell", input: { command: "git log -1 --format=%cs" } }),
        );
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cancelled"))));
      },
    };
    const script = scripts.find(([beginning]) => message.startsWith(beginning))?.[1] ?? writeNotes;
    return script(stage);
  };
  return {
    run,
    /** Makes the agents that still work call another tool. */
    continueWork() {
      for (const act of working) act();
    },
  };
}

const STORED_MS = 30;

/** Bridge writes the time of an event when it stores it, so the clock must stand still until then. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, STORED_MS));

const scripts: readonly (readonly [beginning: string, play: (stage: Stage) => Answer])[] = [
  ["Summarize the failed tests", summarizeTests],
  ["Check all links", checkLinks],
  ["Replace moment", refactor],
  ["Upgrade to TypeScript", failToBuild],
  ["Remove unused files", removeFiles],
  ["List branches", keepWorking],
  ["List unused", keepWorking],
  ["Translate", keepWorking],
  ["Draft", keepWorking],
];

const usage = (costUsd: number, inputTokens: number, outputTokens: number): Partial<ExecutionResult> => ({
  ...{ costUsd, model: "large" },
  usage: { inputTokens, outputTokens, thinkingTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
});

async function answer({ say }: Stage, output: string, used: Partial<ExecutionResult>): Answer {
  await say(output, 9);
  return { ...used, output };
}

async function summarizeTests(stage: Stage): Answer {
  const { say, call } = stage;
  await say("I will look at the report of the nightly build first.");
  await call("read_file", { path: "reports/nightly.json" }, { passed: 1841, failed: 3 });
  await call("shell", { command: "npm test -- session" }, "3 failed, 42 passed", { seconds: 48, isError: true });
  await say("All failures are in one file. I will read it.");
  await call("read_file", { path: "src/session.ts" }, "export function openSession() { … }");
  const output = [
    "**Three of 1844 tests failed**, all in `session.ts`:",
    "- a session that has expired is renewed",
    "- a closed session answers\n- the time limit of a session is ignored",
    "The change of Monday causes it: `openSession()` no longer compares the times.",
  ].join("\n\n");
  return answer(stage, output, usage(0.31, 48_200, 2150));
}

async function checkLinks(stage: Stage): Answer {
  await stage.call("search", { pattern: "\\]\\(", path: "docs/" }, "214 links in 31 files");
  await stage.call("shell", { command: "node scripts/check-links.js docs/" }, "2 broken links", { seconds: 71, isError: true });
  return answer(stage, "212 of 214 links work. Two links in docs/setup.md are broken.", usage(0.12, 21_400, 640));
}

async function writeNotes(stage: Stage): Answer {
  await stage.call("shell", { command: "git log --oneline v1.3..HEAD" }, "58 commits");
  return answer(stage, "Version 1.4 adds webhooks, starts twice as fast, and fixes 11 faults.", usage(0.18, 30_100, 1200));
}

/** Replaces a library in four steps, one of which a person approves. */
async function refactor(stage: Stage): Answer {
  const { say, call, ask, emit } = stage;
  await say("I will find out where moment is used, and then replace one module at a time.");
  await call("search", { pattern: 'from "moment"', path: "src" }, "23 files");
  await call("read_file", { path: "src/dates/format-date.ts" }, "import moment from …");
  await call("read_file", { path: "src/dates/opening-hours.ts" }, "import moment from …");
  await say("Both modules only format and compare. `Intl.DateTimeFormat` and `Temporal` do the same.");
  await call("edit_file", { path: "src/dates/format-date.ts" }, "18 lines changed");
  await call("shell", { command: "npm test -- dates" }, "1 failed, 63 passed", { seconds: 37, isError: true });
  await say("One test expects the week to begin on Sunday. I will read the locale of the shop.");
  await call("read_file", { path: "src/config/locale.ts" }, 'export const locale = "de-CH";');
  await call("edit_file", { path: "src/dates/opening-hours.ts" }, "31 lines changed");
  await call("shell", { command: "npm test -- dates" }, "64 passed", { seconds: 35 });
  const input = { command: "npm uninstall moment && git rm -r src/dates/legacy", description: "Remove the library and its old helpers" };
  emit("tool.invoked", { toolCallId: "call-remove", toolName: "shell", input });
  await settle();
  const { decision } = await ask({ toolCallId: "call-remove", toolName: "shell", input });
  emit("tool.completed", { toolCallId: "call-remove", toolName: "shell", output: decision, isError: false });
  await settle();
  await call("shell", { command: "npm test" }, "1844 passed", { seconds: 104 });
  const output = [
    "**moment is gone.** 23 files use `Temporal` and `Intl.DateTimeFormat`; all 1844 tests pass.",
    "- the bundle is 68 kB smaller\n- the week begins on Monday, as `src/config/locale.ts` says",
    "The pull request is ready: branch `replace-moment`, 26 files changed.",
  ].join("\n\n");
  return answer(stage, output, usage(1.14, 182_000, 9400));
}

/** Ends at the time limit while the tests run. */
async function failToBuild({ say, call, emit }: Stage): Answer {
  await say("I will upgrade the compiler, and then build.");
  await call("shell", { command: "npm install --save-dev typescript@7" }, "changed 1 package", { seconds: 22 });
  await call("shell", { command: "npm run build" }, "src/cart.ts(41,7): error TS2322", { seconds: 64, isError: true });
  await call("edit_file", { path: "src/cart.ts" }, "2 lines changed");
  await call("shell", { command: "npm run build" }, "built in 61 s", { seconds: 61 });
  await say("The build works. I will run all tests.");
  emit("tool.invoked", { toolCallId: "call-tests", toolName: "shell", input: { command: "npm run test:all" } });
  await call("read_file", { path: "test/checkout/payment.test.ts" }, "…", { seconds: 420 });
  return { ...usage(0.46, 71_000, 3100), status: "error", errorCode: "timeout", error: "The task ran longer than 600 s." };
}

async function keepWorking({ say, call, keepWorking: work }: Stage): Answer {
  await say("I will begin with a list.");
  await call("shell", { command: "git ls-files" }, "412 files");
  return work();
}

async function removeFiles(stage: Stage): Answer {
  await stage.say("Nothing imports these four files. I will remove them.");
  const input = {
    command: "git rm src/old-form.ts src/old-list.ts src/polyfill.ts src/theme-2019.css",
    description: "Remove unused files",
  };
  const { decision } = await stage.ask({ toolCallId: "call-1", toolName: "shell", input });
  return answer(stage, decision === "approve" ? "The files are removed." : "The files stay.", usage(0.09, 9800, 300));
}

interface CouncilRole {
  role: string;
  domain?: string;
  round: number;
}

const findings: Readonly<Record<string, object>> = {
  security: {
    ...{ severity: "HIGH", evidence: "src/session/store.ts:42", title: "A session stays valid after the password has changed" },
    description: "`changePassword()` does not delete the other sessions of the user from Redis.",
    action: "Delete the set `sessions:<user>` in the same transaction.",
  },
  api: {
    ...{ severity: "MEDIUM", evidence: "src/http/login.ts:118", title: "A full store and a wrong password return the same status" },
    description: "Clients cannot tell the two cases apart, and try again for both.",
    action: "Return 503 with `Retry-After` if Redis is not available.",
  },
};

/** Every expert raises one finding about its domain. */
async function playRole({ role, domain = "integration", round }: CouncilRole, clock: PastClock): Answer {
  await settle();
  clock.advance(21);
  const raised = round === 1 && !/challenger|checker/i.test(role) ? [{ type: "finding", ...findings[domain] }] : [];
  return { ...usage(0.08, 14_100, 720), output: JSON.stringify({ outputs: raised }) };
}
