/** Maximum number of times that a path is decoded. A path that still changes is rejected. */
const MAX_DECODINGS = 3;

/** Returns the path of a base URL, without a slash at its end. */
export const basePathOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/+$/, "");

/**
 * Returns whether a path, without its query, lies below the base path. Rejects every path with a dot segment, in any encoding, because the
 * vendor's server may resolve it.
 */
export function isBelow(path: string, basePath: string): boolean {
  if (!path.startsWith("/") || !(path === basePath || path.startsWith(`${basePath}/`))) return false;
  const decoded = decodeFully(path);
  return decoded !== null && !decoded.split(/[/\\]/).some((segment) => segment === "." || segment === "..");
}

function decodeFully(path: string): string | null {
  let decoded = path;
  for (let count = 0; count <= MAX_DECODINGS; count += 1) {
    if (!decoded.includes("%")) return decoded;
    try {
      const next = decodeURIComponent(decoded);
      if (next === decoded) return decoded;
      decoded = next;
    } catch {
      return null;
    }
  }
  return null;
}
