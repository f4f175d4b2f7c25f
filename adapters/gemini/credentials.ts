import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";
import type { Credentials, ProgramContext } from "../shared/agent-program/agent-program.ts";

const CREDENTIALS_ADVICE =
  "Set GEMINI_API_KEY; or GOOGLE_GENAI_USE_VERTEXAI=true with GOOGLE_API_KEY, or with GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION";

/** Checks for credentials in the environment, and in the operator's home directory if tasks use it. Gemini has no command for this. */
export function findCredentials({ settings, env }: Pick<ProgramContext, "settings" | "env">): Credentials {
  const home = env["HOME"] ?? "/";
  const login = hasLogin(home);
  if (settings.home === "user" && login) return { ok: true, detail: "signed in with Google, in the operator's home" };
  if (env["GOOGLE_GENAI_USE_GCA"] === "true")
    return {
      ok: false,
      detail: "GOOGLE_GENAI_USE_GCA needs a login in the operator's home: run gemini once, then set BRIDGE_GEMINI_HOME=user.",
    };
  if (env["GOOGLE_GENAI_USE_VERTEXAI"] === "true") return describeVertexCredentials(env);
  if (isSet(env, "GEMINI_API_KEY")) return { ok: true, detail: "GEMINI_API_KEY is set" };
  const hint = login
    ? `${CREDENTIALS_ADVICE}; or set BRIDGE_GEMINI_HOME=user to use the login in the operator's home.`
    : `${CREDENTIALS_ADVICE}.`;
  return { ok: false, detail: hint };
}

function describeVertexCredentials(env: ProgramContext["env"]): Credentials {
  if (isSet(env, "GOOGLE_API_KEY")) return { ok: true, detail: "Vertex AI with GOOGLE_API_KEY" };
  const missing = ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"].filter((name) => !isSet(env, name));
  if (missing.length === 0) return { ok: true, detail: "Vertex AI with the project's application default credentials" };
  return { ok: false, detail: `Vertex AI needs GOOGLE_API_KEY, or else ${missing.join(" and ")}.` };
}

/** Checks for the file that Gemini writes after a login. */
function hasLogin(home: string): boolean {
  return readGeminiFile(home, "oauth_creds.json").includes("refresh_token");
}

/** Larger than any file that Gemini writes there. */
const MAX_FILE_BYTES = 1024 ** 2;

/**
 * Reads a file in the operator's `~/.gemini`; empty if it cannot be read. Does not block if a task has replaced the file with a pipe.
 */
export function readGeminiFile(home: string, name: string): string {
  try {
    const reading = readFileInside("/", path.join(home, ".gemini", name), MAX_FILE_BYTES);
    return "content" in reading ? reading.content.toString("utf8") : "";
  } catch {
    return "";
  }
}

const isSet = (env: ProgramContext["env"], name: string): boolean => (env[name] ?? "") !== "";
