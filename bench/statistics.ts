/** Returns the quantile at `part` (0 to 1), interpolated linearly between the two nearest values; NaN without values. */
export function quantile(values: readonly number[], part: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  const position = part * (ascending.length - 1);
  const below = ascending[Math.floor(position)] ?? Number.NaN;
  const above = ascending[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
