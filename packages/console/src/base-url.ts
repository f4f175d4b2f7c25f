/** URL of the console, which ends with `/ui/`. The bundle is in `/ui/assets/`, also behind a proxy with a path prefix. */
export const consoleUrl = new URL("../", import.meta.url);

/** URL of Bridge. */
export const bridgeUrl = new URL("../", consoleUrl);
