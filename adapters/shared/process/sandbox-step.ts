import type { PreflightStep, Sandbox } from "#contract";

/** What a preflight tells of the sandbox in use; nothing without one. */
export const sandboxStep = (sandbox: Sandbox | null): PreflightStep[] =>
  sandbox === null ? [] : [{ step: "sandbox", ok: true, detail: `${sandbox.detail}: tasks write to their own directories alone` }];
