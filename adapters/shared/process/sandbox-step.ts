import type { PreflightStep, Sandbox } from "#contract";

/** The preflight step that describes the sandbox; empty without a sandbox. */
export const sandboxStep = (sandbox: Sandbox | null): PreflightStep[] =>
  sandbox === null ? [] : [{ step: "sandbox", ok: true, detail: `${sandbox.detail}: tasks can write only to their own directories` }];
