/** Older ones ask for a login of OpenAI's even where the provider has a key of its own: each session would fail. */
const oldestVersion = "2.6.0";

/** Throws in words when a `codex-acp` is too old for the tasks of Bridge; who tells no version is taken as it is. */
export function refuseOldAgent(version: string | null): void {
  if (version === null || version.localeCompare(oldestVersion, "en", { numeric: true }) >= 0) return;
  throw new Error(
    `codex-acp ${version} is not supported, it takes no provider with a key: npm install -g @agentclientprotocol/codex-acp@${oldestVersion}, or newer.`,
  );
}
