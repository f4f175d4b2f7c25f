import type { ProgramContext } from "./agent-program.ts";
import type { ProgramSettings } from "./settings.ts";

const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"] as const;
/** Variables of Bridge's environment that every program inherits. It inherits others only if its adapter or the operator names them. */
const INHERITED_VARIABLES = ["PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", ...PROXY_VARIABLES] as const;

/**
 * Creates the environment of a program: the allowed variables of Bridge's environment, and the variables in `own`, which take precedence.
 */
export function createProgramEnvironment(
  { env, settings }: Pick<ProgramContext, "env"> & { settings: Pick<ProgramSettings, "env"> },
  names: readonly string[],
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const picked = [...INHERITED_VARIABLES, ...names, ...settings.env].flatMap((name) =>
    typeof env[name] === "string" ? [[name, env[name]]] : [],
  );
  return { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", ...Object.fromEntries(picked), ...exemptLoopback(env), ...own };
}

/** Exempts the loopback address from the proxy, because Bridge's MCP server listens there and a proxy cannot reach it. */
function exemptLoopback(env: ProgramContext["env"]): Record<string, string> {
  if (!PROXY_VARIABLES.some((name) => /^https?_proxy$/i.test(name) && env[name] !== undefined)) return {};
  const hosts = [env["NO_PROXY"] ?? env["no_proxy"] ?? "", "127.0.0.1"].filter((host) => host !== "").join(",");
  return { NO_PROXY: hosts, no_proxy: hosts };
}
