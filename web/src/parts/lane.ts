import type { ListedTask } from "bridge-client";
import { html, type TemplateResult } from "lit";
import { formatDuration } from "../format.ts";

/** Shows when a child task ran, within the time of its parent. */
export function lane(parent: ListedTask, child: ListedTask, now: number): TemplateResult {
  const start = Date.parse(parent.startedAt ?? parent.createdAt);
  const length = Math.max(1, toMs(parent.finishedAt, now) - start);
  const from = toMs(child.startedAt, now) - start;
  const to = toMs(child.finishedAt, now) - start;
  const percent = (ms: number): number => Math.min(100, Math.max(0, (ms / length) * 100));
  const text = child.startedAt === null ? "not started" : `${formatDuration(to - from)}, ${formatDuration(from)} after the start`;
  return html`<svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${text}>
    <rect class="track" width="100" height="8" />
    <rect class="bar" x=${percent(from)} width=${Math.max(0.5, percent(to) - percent(from))} height="8" />
  </svg>`;
}

const toMs = (iso: string | null, now: number): number => (iso === null ? now : Date.parse(iso));
