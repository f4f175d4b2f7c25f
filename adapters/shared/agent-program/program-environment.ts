import type { ProgramContext } from "./agent-program.ts";
import type { ProgramSettings } from "./settings.ts";

const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"] as const;
/** Every program gets these, and of the rest only what its adapter or the operator names. */
const common = ["PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", ...proxies] as const;

/** The environment of a program: an allow-list of Bridge's own, then what the adapter sets. */
export function programEnvironment(
  { env, settings }: Pick<ProgramContext, "env"> & { settings: Pick<ProgramSettings, "env"> },
  names: readonly string[],
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const picked = [...common, ...names, ...settings.env].flatMap((name) => (typeof env[name] === "string" ? [[name, env[name]]] : []));
  return { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", ...Object.fromEntries(picked), ...withoutProxy(env), ...own };
}

/** Bridge's own MCP server listens on the loopback address, which a proxy cannot reach. */
function withoutProxy(env: ProgramContext["env"]): Record<string, string> {
  if (!proxies.some((name) => /^https?_proxy$/i.test(name) && env[name] !== undefined)) return {};
  const hosts = [env["NO_PROXY"] ?? env["no_proxy"] ?? "", "127.0.0.1"].filter((host) => host !== "").join(",");
  return { NO_PROXY: hosts, no_proxy: hosts };
}
