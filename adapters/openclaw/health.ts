import { withTimeout } from "@hak2i/async-kit";
import type { AdapterHealthStatus, PreflightStep } from "#contract";
import { originOf } from "../shared/model-api/model-failure.ts";
import type { AdapterContext } from "./adapter-context.ts";
import { type GatewayError, readDetailCode } from "./gateway-error.ts";
import type { Hello } from "./gateway-socket.ts";

const LIMIT_MS = 10_000;
const TESTED_VERSION = "2026.9.6";
/** No task can run without the required methods. Without an optional one, approvals or reconnects do not work. */
const REQUIRED_METHODS = ["agent", "sessions.create", "sessions.describe", "sessions.abort"];
const OPTIONAL_METHODS = ["agent.wait", "tasks.list", "chat.history", "exec.approval.list", "exec.approval.resolve"];
const REQUIRED_SCOPES = ["operator.admin", "operator.read", "operator.write", "operator.approvals"];

/** Checks the connection to the gateway and its handshake response. Makes no call. */
export async function checkGatewayHealth({ gateway, settings }: AdapterContext): Promise<AdapterHealthStatus> {
  // The rest of the URL may contain a secret.
  const url = originOf(settings.url);
  // The first connection attempt may still be in progress.
  if (gateway.failure === null) await withTimeout(gateway.waitForAttempt(), LIMIT_MS, () => {});
  const { hello } = gateway;
  if (gateway.state !== "connected" || hello === null) {
    const isReconnecting = hello !== null && gateway.failure?.retryable === true;
    const detail = isReconnecting
      ? `Bridge is reconnecting to the gateway. ${describeFailure(gateway.failure)}`
      : describeFailure(gateway.failure);
    const preflight = [{ step: "primary connection", ok: false, detail: `http-api: ${url}: ${detail}` }];
    const version = hello?.version ?? null;
    return isReconnecting
      ? { status: "degraded", connection: "http-api", path: url, version, detail, preflight }
      : { status: "offline", connection: null, version, detail, preflight };
  }
  const preflight = [
    { step: "primary connection", ok: true, detail: `http-api: ${url}` },
    createAuthenticationStep(hello),
    createVersionStep(hello),
    ...createMethodSteps(hello),
  ];
  const faults = preflight.filter(({ ok }) => !ok);
  const isUnusable = REQUIRED_METHODS.some((method) => !gateway.hasMethod(method));
  return {
    status: isUnusable ? "offline" : faults.length > 0 ? "degraded" : "healthy",
    connection: isUnusable ? null : "http-api",
    path: isUnusable ? null : url,
    version: hello.version,
    detail: faults.length > 0 ? faults.map((fault) => fault.detail).join(" ") : null,
    preflight,
  };
}

/** Describes why there is no connection, and what the operator can do. */
function describeFailure(failure: GatewayError | null): string {
  if (failure === null) return "Bridge is not connected to the gateway yet.";
  const { code, message } = failure;
  const detail = readDetailCode(failure);
  if (detail === "AUTH_TOKEN_MISMATCH") return "The gateway rejects the token. Set BRIDGE_OPENCLAW_TOKEN to its gateway.auth.token.";
  if (code === "NOT_PAIRED" || detail?.startsWith("AUTH_") === true)
    return `The gateway requires authentication (${message}). Set BRIDGE_OPENCLAW_TOKEN to its gateway.auth.token, and run Bridge on the gateway's host or connect through a tunnel: the gateway accepts a token alone only over loopback.`;
  if (detail === "PROTOCOL_MISMATCH" || /protocol/i.test(code))
    return `The gateway uses a protocol version that Bridge does not support (${message}). Use OpenClaw ${TESTED_VERSION}.`;
  if (/ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT/.test(message))
    return `The gateway cannot be reached (${message}). Start it with \`openclaw gateway\`, or set BRIDGE_OPENCLAW_URL to its address.`;
  return message;
}

function createAuthenticationStep({ scopes }: Hello): PreflightStep {
  const missing = REQUIRED_SCOPES.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return { step: "authentication", ok: true, detail: "connected, with all required scopes" };
  return {
    step: "authentication",
    ok: false,
    detail: `The gateway does not grant Bridge the scopes ${missing.join(", ")}. Run Bridge on the gateway's host, with the gateway's token.`,
  };
}

/** Another version is not a failure: the check of the methods determines whether it is compatible. */
const createVersionStep = ({ version }: Hello): PreflightStep => ({
  step: "version",
  ok: true,
  detail: version === TESTED_VERSION ? `${version}, as tested` : `${version}; tested with ${TESTED_VERSION}`,
});

function createMethodSteps({ methods, version }: Hello): PreflightStep[] {
  const missing = [...REQUIRED_METHODS, ...OPTIONAL_METHODS].filter((method) => !methods.has(method));
  if (missing.length === 0) return [];
  return [{ step: "methods", ok: false, detail: `OpenClaw ${version} lacks the methods ${missing.join(", ")}. Use ${TESTED_VERSION}.` }];
}
