/** Maximum depth of a tool output at which media are searched. */
const MAX_DEPTH = 8;
const BASE64_URL = /^data:([^;,]*);base64,/;
const MEDIA_TYPE = /^(image|audio|video)\//;

const { isRawJSON } = JSON as JSON & { isRawJSON(value: unknown): boolean };

type Fields = Readonly<Record<string, unknown>>;

interface Media {
  mimeType: string;
  data: string;
}

/**
 * Replaces each image, audio or embedded file in the output of a tool by its type and size. Runtimes report them as base64, which would be
 * most of the event, the conversation and the callback. Numbers of `JSON.rawJSON` stay as they are.
 */
export function describeMedia(output: unknown, depth = 0): unknown {
  if (typeof output !== "object" || output === null || depth > MAX_DEPTH || isRawJSON(output)) return output;
  if (Array.isArray(output)) return output.map((item) => describeMedia(item, depth + 1));
  const fields = output as Fields;
  const media = readMedia(fields);
  if (media !== null) return { type: typeOf(media), mimeType: media.mimeType, bytes: measureBase64(media.data) };
  if (typeof fields["blob"] === "string" && typeof fields["uri"] === "string") {
    const { blob, ...rest } = fields;
    return { ...rest, bytes: measureBase64(blob as string) };
  }
  return describeFields(fields, depth + 1);
}

/** Copies the fields only if one of them changes, because a copy of many fields takes longer than parsing them. */
function describeFields(fields: Fields, depth: number): Fields {
  let described = fields as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const text = describeMedia(value, depth);
    if (text === value) continue;
    if (described === fields) described = Object.fromEntries(Object.entries(fields));
    described[name] = text;
  }
  return described;
}

/** Reads media in the forms of MCP and ACP, Anthropic, Gemini, OpenAI and OpenCode; null for any other object. */
function readMedia(block: Fields): Media | null {
  const { source, inlineData, image_url: imageUrl, url } = block;
  const { data, mimeType, mime, media_type: mediaType } = (source ?? inlineData ?? block) as Fields;
  const type = mimeType ?? mediaType ?? mime;
  if (typeof data === "string" && typeof type === "string" && MEDIA_TYPE.test(type)) return { mimeType: type, data };
  const address = (typeof imageUrl === "object" ? (imageUrl as { url?: unknown } | null)?.url : imageUrl) ?? url;
  const prefix = typeof address === "string" ? BASE64_URL.exec(address) : null;
  if (prefix?.[1] === undefined || !MEDIA_TYPE.test(prefix[1])) return null;
  return { mimeType: prefix[1], data: (address as string).slice(prefix[0].length) };
}

const typeOf = ({ mimeType }: Media): string => mimeType.slice(0, mimeType.indexOf("/"));

/** Returns the number of bytes that base64 encodes. */
export const measureBase64 = (data: string): number => Math.floor((data.replace(/=+$/, "").length * 3) / 4);
