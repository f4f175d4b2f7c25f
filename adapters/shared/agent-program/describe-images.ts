/** Maximum depth of a tool output at which images are searched. */
const MAX_DEPTH = 8;
const BASE64_URL = /^data:([^;,]*);base64,/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Replaces each image in the output of a tool by its type and size. Programs report images as base64, which would be most of the event,
 * the conversation and the callback; the file itself is in the workspace.
 */
export function describeImages(output: unknown, depth = 0): unknown {
  if (typeof output !== "object" || output === null || depth > MAX_DEPTH) return output;
  if (Array.isArray(output)) return output.map((item) => describeImages(item, depth + 1));
  const image = readImage(output as Fields);
  if (image !== null) return { type: "image", mimeType: image.mimeType, bytes: measureBase64(image.data) };
  return Object.fromEntries(Object.entries(output).map(([name, value]) => [name, describeImages(value, depth + 1)]));
}

/** Reads an image in the forms of MCP and ACP, Anthropic, Gemini, OpenAI and OpenCode; null for any other object. */
function readImage(block: Fields): { mimeType: string; data: string } | null {
  const { source, inlineData, image_url: imageUrl, url } = block;
  const { data, mimeType, mime, media_type: mediaType } = (source ?? inlineData ?? block) as Fields;
  const type = mimeType ?? mediaType ?? mime;
  if (typeof data === "string" && typeof type === "string" && type.startsWith("image/")) return { mimeType: type, data };
  const address = (typeof imageUrl === "object" ? (imageUrl as { url?: unknown } | null)?.url : imageUrl) ?? url;
  const prefix = typeof address === "string" ? BASE64_URL.exec(address) : null;
  if (prefix === null || prefix[1]?.startsWith("image/") !== true) return null;
  return { mimeType: prefix[1], data: (address as string).slice(prefix[0].length) };
}

const measureBase64 = (data: string): number => Math.floor((data.replace(/=+$/, "").length * 3) / 4);
