import type { Run } from "../verb.ts";

/** Prints a link that signs a browser in to the console. */
export const run: Run<object> = async ({ output, signal, connect }) => {
  const { client, url } = connect();
  const link = await client.createSignInLink({ signal });
  const address = new URL(link.path.replace(/^\//, ""), `${url}/`).href;
  if (output.format === "json") output.printJson({ url: address, expiresAt: link.expiresAt });
  else output.print(address);
  output.note("The link is valid once, within 60 seconds.");
  return undefined;
};
