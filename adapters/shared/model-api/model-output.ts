import type { JSONValue, ToolResultPart } from "ai";
import { z } from "zod";
import { mayBeInexact } from "#contract";
import { describeMedia, measureBase64 } from "../agent-program/describe-media.ts";

type ModelOutput = ToolResultPart["output"];
type ContentPart = Extract<ModelOutput, { type: "content" }>["value"][number];

/** The types of images that models read. */
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Anthropic rejects images of more than 5 MB of base64. */
const MAX_IMAGE_BYTES = 3_750_000;

const textSchema = z.object({ type: z.literal("text"), text: z.string() });
const imageSchema = z.object({
  type: z.literal("image"),
  data: z.base64().refine((data) => measureBase64(data) <= MAX_IMAGE_BYTES),
  mimeType: z.enum(IMAGE_TYPES),
});
const mediaSchema = z.object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() });
const resultSchema = z.object({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});

/**
 * Converts the result of an MCP tool to what the model receives: text, and images if the endpoint accepts them in the results of tools.
 * Other media become a note with their type and size, because models cannot read base64.
 */
export function createModelOutput(output: unknown, acceptsImages: boolean): ModelOutput {
  const { data } = resultSchema.safeParse(output);
  if (data === undefined) return createJsonOutput(output);
  const { content, structuredContent, isError } = data;
  // The protocol requires text, too, but some servers omit it.
  if (content.length === 0) return createJsonOutput(structuredContent ?? output);
  const parts = content.map((part) => convertPart(part, acceptsImages && !isError));
  if (parts.some(({ type }) => type !== "text")) return { type: "content", value: parts };
  const value = parts.map((part) => (part as { text: string }).text).join("\n");
  return { type: isError ? "error-text" : "text", value };
}

function convertPart(part: unknown, acceptsImages: boolean): ContentPart {
  const text = textSchema.safeParse(part).data;
  if (text !== undefined) return text;
  const image = acceptsImages ? imageSchema.safeParse(part).data : undefined;
  if (image !== undefined) return { type: "file", mediaType: image.mimeType, data: { type: "data", data: image.data } };
  const media = mediaSchema.safeParse(part).data;
  return { type: "text", text: media === undefined ? JSON.stringify(describeMedia(part)) : createNote(media) };
}

/** Describes media that the model does not receive. */
const createNote = ({ type, mimeType, data }: z.infer<typeof mediaSchema>): string =>
  `[${type} of ${measureBase64(data)} bytes (${mimeType}); it cannot be shown to the model]`;

/** Converts JSON to an output for the model. The SDK copies JSON and would lose exact numbers, so JSON with such numbers becomes text. */
function createJsonOutput(value: unknown): ModelOutput {
  const described = describeMedia(value) ?? null;
  const text = JSON.stringify(described);
  return mayBeInexact(text) ? { type: "text", value: text } : { type: "json", value: described as JSONValue };
}

/** Replaces the images in an output by notes, so that a stored conversation does not contain them. */
export function omitImages(output: ModelOutput): ModelOutput {
  if (output.type !== "content" || output.value.every(({ type }) => type === "text")) return output;
  const texts = output.value.map((part) => {
    if (part.type === "text") return part.text;
    const { mediaType, data } = part as { mediaType?: string; data?: { data?: unknown } };
    return typeof mediaType === "string" && typeof data?.data === "string"
      ? createNote({ type: "image", mimeType: mediaType, data: data.data })
      : JSON.stringify(describeMedia(part));
  });
  return { type: "text", value: texts.join("\n") };
}
