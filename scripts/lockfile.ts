/** One installed package in a lock file, by its place in the tree. */
export interface LockedPackage {
  version?: string;
  resolved?: string;
  /** Is it a directory of this repository? */
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

/** What matters of npm's `package-lock.json`. */
export interface Lockfile {
  packages: Record<string, LockedPackage>;
}

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/**
 * Adds the platform packages that npm left out, and answers their names.
 *
 * npm writes no entry for an optional package that the registry at hand does not serve, and `npm ci` then calls the lock file out of
 * date on every machine. An entry with its platform is enough: where the platform does not match nothing is fetched.
 */
export function completeLockfile(lockfile: Lockfile): string[] {
  const added: string[] = [];
  for (const { dependent, name, version } of missingPlatformPackages(lockfile)) {
    const place = `node_modules/${name}`;
    const dev = lockfile.packages[dependent]?.dev;
    const { os, cpu, libc } = platformOf(name);
    // In npm's own order, so that its next write changes nothing.
    lockfile.packages[place] = { version, cpu, ...(dev ? { dev } : {}), ...(libc === null ? {} : { libc }), optional: true, os };
    added.push(`${name}@${version}`);
  }
  lockfile.packages = Object.fromEntries(Object.entries(lockfile.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
  return added;
}

/** Optional packages that some package of the lock file names and that have no entry of their own. */
export function missingPlatformPackages({ packages }: Lockfile): { dependent: string; name: string; version: string }[] {
  return Object.entries(packages).flatMap(([dependent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !placesSeenFrom(dependent, name).some((place) => place in packages))
      .map(([name, version]) => ({ dependent, name, version })),
  );
}

/** Where Node looks for a package, from the inside out. */
function placesSeenFrom(dependent: string, name: string): string[] {
  const places = [`node_modules/${name}`];
  for (let at = dependent.length; at > 0; at = dependent.lastIndexOf("/node_modules/", at - 1)) {
    places.push(`${dependent.slice(0, at)}/node_modules/${name}`);
  }
  return places;
}

/** The platform that a package's name ends with, for example `cli-linux-x64-musl`. */
function platformOf(name: string): { os: string[]; cpu: string[]; libc: string[] | null } {
  const parts = name.split(/[/-]/);
  const os = systems.filter((system) => parts.includes(system) || (system === "win32" && parts.includes("windows")));
  const cpu = processors.filter((processor) => parts.includes(processor));
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`${name}: the name tells no platform; add it to the lock file by hand`);
  const libc = parts.some((part) => part.startsWith("musl")) ? ["musl"] : parts.some((part) => part.startsWith("gnu")) ? ["glibc"] : null;
  return { os, cpu, libc };
}
