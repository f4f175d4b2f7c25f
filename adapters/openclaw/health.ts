import { withTimeout } from "@hak2i/async-kit";
import type { AdapterHealthStatus, PreflightStep } from "#contract";
import { originOf } from "../shared/model-api/model-failure.ts";
import type { AdapterContext } from "./adapter-context.ts";
import { detailCode, type GatewayError } from "./gateway-error.ts";
import type { Hello } from "./gateway-socket.ts";

const LIMIT_MS = 10_000;
const TESTED_VERSION = "2026.9.6";
/** Without these no task can run; without the others a task cannot ask, or is lost with its connection. */
const REQUIRED_METHODS = ["agent", "sessions.create", "sessions.describe", "sessions.abort"];
const OPTIONAL_METHODS = ["agent.wait", "tasks.list", "chat.history", "exec.approval.list", "exec.approval.resolve"];
const REQUIRED_SCOPES = ["operator.admin", "operator.read", "operator.write", "operator.approvals"];

/** Looks at the connection to the gateway, step by step; asks the gateway nothing. */
export async function checkGatewayHealth({ gateway, settings }: AdapterContext): Promise<AdapterHealthStatus> {
  // Whatever else stands in it may be a secret.
  const url = originOf(settings.url);
  // One that is being made may be there in a moment.
  if (gateway.failure === null) await withTimeout(gateway.tried(), LIMIT_MS, () => {});
  const { hello } = gateway;
  if (gateway.state !== "connected" || hello === null) {
    const isBack = hello !== null && gateway.failure?.retryable === true;
    const detail = isBack ? `The connection to the gateway is being made again. ${adviceOn(gateway.failure)}` : adviceOn(gateway.failure);
    const preflight = [{ step: "primary connection", ok: false, detail: `http-api: ${url}: ${detail}` }];
    const version = hello?.version ?? null;
    return isBack
      ? { status: "degraded", connection: "http-api", version, detail, preflight }
      : { status: "offline", connection: null, version, detail, preflight };
  }
  const preflight = [
    { step: "primary connection", ok: true, detail: `http-api: ${url}` },
    authenticationStep(hello),
    versionStep(hello),
    ...methodSteps(hello),
  ];
  const faults = preflight.filter(({ ok }) => !ok);
  const isUnusable = REQUIRED_METHODS.some((method) => !gateway.hasMethod(method));
  return {
    status: isUnusable ? "offline" : faults.length > 0 ? "degraded" : "healthy",
    connection: isUnusable ? null : "http-api",
    version: hello.version,
    detail: faults.length > 0 ? faults.map((fault) => fault.detail).join(" ") : null,
    preflight,
  };
}

/** Why there is no connection, and what the operator can do about it. */
function adviceOn(failure: GatewayError | null): string {
  if (failure === null) return "There is no connection to the gateway yet.";
  const { code, message } = failure;
  const detail = detailCode(failure);
  if (detail === "AUTH_TOKEN_MISMATCH") return "The gateway refuses the token: set BRIDGE_OPENCLAW_TOKEN to its gateway.auth.token.";
  if (code === "NOT_PAIRED" || detail?.startsWith("AUTH_") === true)
    return `The gateway wants to know who connects (${message}): set BRIDGE_OPENCLAW_TOKEN to its gateway.auth.token, and run Bridge on the gateway's machine or through a tunnel to it; a token alone is enough only there.`;
  if (detail === "PROTOCOL_MISMATCH" || /protocol/i.test(code))
    return `The gateway speaks another version of its protocol than Bridge (${message}): use OpenClaw ${TESTED_VERSION}.`;
  if (/ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT/.test(message))
    return `No gateway answers (${message}): start it with \`openclaw gateway\`, or set BRIDGE_OPENCLAW_URL to where it listens.`;
  return message;
}

function authenticationStep({ scopes }: Hello): PreflightStep {
  const missing = REQUIRED_SCOPES.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return { step: "authentication", ok: true, detail: "connected, with all rights" };
  return {
    step: "authentication",
    ok: false,
    detail: `The gateway gives Bridge no right to ${missing.join(", ")}: run Bridge on the gateway's machine, with its own token.`,
  };
}

/** Another version is no fault: what it can is told by its methods. */
const versionStep = ({ version }: Hello): PreflightStep => ({
  step: "version",
  ok: true,
  detail: version === TESTED_VERSION ? `${version}, as tested` : `${version}; tested was ${TESTED_VERSION}`,
});

function methodSteps({ methods, version }: Hello): PreflightStep[] {
  const missing = [...REQUIRED_METHODS, ...OPTIONAL_METHODS].filter((method) => !methods.has(method));
  if (missing.length === 0) return [];
  return [{ step: "methods", ok: false, detail: `OpenClaw ${version} has no ${missing.join(", ")}: use ${TESTED_VERSION}.` }];
}
