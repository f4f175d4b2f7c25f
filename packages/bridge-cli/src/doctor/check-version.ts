import { type Check, ok, warning } from "./check.ts";

/** Compares the version of this program with that of Bridge. Bridge only adds to its API, so an older program always works. */
export function checkVersion(own: string, server: string): Check {
  if (!isNewer(own, server)) return ok("version", `bridge ${own}, Bridge ${server}`);
  return warning(
    "version",
    `bridge ${own} is newer than Bridge ${server}, which can reject new options.`,
    `Upgrade Bridge, or install bridge-cli ${server}.`,
  );
}

/** Compares major and minor versions: patches change no API. */
function isNewer(one: string, other: string): boolean {
  const [major = 0, minor = 0] = one.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split(".").map(Number);
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}
