/** The quantile of the values for a fraction. */
export function quantile(values: readonly number[], part: number): number {
  if (values.length === 0) return Number.NaN;
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.min(ascending.length - 1, Math.floor(part * ascending.length))] as number;
}

/** The median. */
export function median(values: readonly number[]): number {
  const ascending = values.toSorted((a, b) => a - b);
  const middle = ascending.length / 2;
  return Number.isInteger(middle)
    ? ((ascending[middle - 1] as number) + (ascending[middle] as number)) / 2
    : (ascending[Math.floor(middle)] as number);
}

/** The ratio of the largest value to the smallest. */
export const spread = (values: readonly number[]): number => Math.max(...values) / Math.min(...values);
