import type { Run } from "../verb.ts";

interface Options {
  open: boolean;
}

/** Signs a browser in to the console: opens the link if there is a desktop, and prints it. */
export const run: Run<Options> = async ({ options, output, env, signal, connect }) => {
  const { client, url } = connect();
  const link = await client.createSignInLink({ signal });
  const address = new URL(link.path.replace(/^\//, ""), `${url}/`).href;
  if (output.format === "json") output.printJson({ url: address, expiresAt: link.expiresAt });
  else output.print(address);
  output.note("The link is valid once, within 60 seconds.");
  if (options.open && output.format === "terminal" && hasDesktop(env)) await openBrowser(address);
  return undefined;

  async function openBrowser(target: string): Promise<void> {
    try {
      const { default: open } = await import("open");
      await open(target);
    } catch {
      output.warn("No browser could be opened. Open the link yourself.");
    }
  }
};

/** Whether a browser can open a window on the user's desktop. */
function hasDesktop({ SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): boolean {
  if (SSH_CONNECTION) return false;
  return process.platform !== "linux" || Boolean(DISPLAY) || Boolean(WAYLAND_DISPLAY);
}
