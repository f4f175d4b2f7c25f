/**
 * Whether one number is a multiple of another, as decimal numbers: 19.99 is a multiple of 0.01, although the quotient of the two doubles is
 * not an integer.
 */
export function isMultiple(value: number, divisor: number): boolean {
  const [one, other] = [toDecimal(value), toDecimal(divisor)];
  const exponent = Math.min(one.exponent, other.exponent);
  const scale = (decimal: Decimal): bigint => decimal.digits * 10n ** BigInt(decimal.exponent - exponent);
  return scale(one) % scale(other) === 0n;
}

/** The number `digits` × 10^`exponent`. */
interface Decimal {
  digits: bigint;
  exponent: number;
}

function toDecimal(value: number): Decimal {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
