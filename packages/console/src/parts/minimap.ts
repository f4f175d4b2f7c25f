import { html, type TemplateResult } from "lit";
import { rowFilters, startOf, type TimelineRow } from "../timeline-rows.ts";
import type { Axis } from "./lane.ts";

const BINS = 160;
const HEIGHT = 24;

/**
 * Shows how much happened when, with errors in another color. A person moves along it to a time, and `onMove` receives the index of the
 * first row at that time.
 */
export function minimap(
  rows: readonly TimelineRow[],
  axis: Axis,
  { at, onMove }: { at: number; onMove: (index: number) => void },
): TemplateResult {
  const starts = rows.map(({ entry }) => startOf(entry));
  const move = (event: Event): void => {
    const bin = Number((event.target as HTMLInputElement).value);
    const index = bin === BINS - 1 ? -1 : starts.findIndex((start) => start >= axis.start + (bin / BINS) * axis.length);
    onMove(index === -1 ? rows.length - 1 : index);
  };
  const shown = starts[at] === undefined ? 0 : binOf(starts[at], axis);
  return html`<div class="minimap">
    <svg viewBox="0 0 ${BINS} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      <path class="bars" d=${draw(countBins(starts, axis))} />
      <path class="failed" d=${draw(
        countBins(
          starts.filter((_, index) => rowFilters.errors((rows[index] as TimelineRow).entry)),
          axis,
        ),
      )} />
    </svg>
    <input type="range" min="0" max=${BINS - 1} .value=${String(shown)} aria-label="Time in the timeline" @change=${move} />
  </div>`;
}

const binOf = (time: number, { start, length }: Axis): number =>
  Math.min(BINS - 1, Math.max(0, Math.floor(((time - start) / length) * BINS)));

function countBins(starts: readonly number[], axis: Axis): number[] {
  const bins = Array.from({ length: BINS }, () => 0);
  for (const start of starts) bins[binOf(start, axis)] = (bins[binOf(start, axis)] as number) + 1;
  return bins;
}

/** Draws a bar for each bin. The height grows with the logarithm, so that single entries stay visible. */
function draw(bins: readonly number[]): string {
  return bins
    .map((count, index) => {
      const height = count === 0 ? 0 : Math.min(HEIGHT, 6 + 4 * Math.log2(count));
      return height === 0 ? "" : `M${index} ${HEIGHT}v${-height}h0.8v${height}z`;
    })
    .join("");
}
