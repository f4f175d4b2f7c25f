/** Exits with an error if this Node is too old to load the code of Bridge. A test compares the version with the manifest. */
export function checkNode() {
  if (Number.parseInt(process.versions.node, 10) >= 24) return;
  console.error(
    `Node ${process.versions.node} is too old: Bridge needs Node 24 or newer.
Install it, for example from https://nodejs.org. In a clone of Bridge, run npm ci && npm rebuild, and use npm start or npx.`,
  );
  process.exit(1);
}
