import { z } from "zod";

/** A number with a unit, in any case: `512m`, `4g`, `1.5g`, `64KiB`. A bare number is refused: bytes or gigabytes? */
const SIZE = /^(\d{1,15}(?:\.\d{1,9})?)\s?([bkmgtBKMGT])(?:[iI]?[bB])?$/;

const UNIT_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
};

/**
 * Reads a size. Units are binary, as the container engines have them: `1k` is 1024 bytes.
 *
 * @returns whole bytes, or undefined when the text is not a size or too large to be counted exactly.
 */
export function parseSize(text: string): number | undefined {
  const [, digits, unit] = SIZE.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const bytes = Math.round(Number(digits) * (UNIT_BYTES[unit.toLowerCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Schema of a size as a person writes it; gives bytes. */
export function sizeSchema(smallestBytes: number): z.ZodType<number> {
  return z
    .string()
    .regex(SIZE)
    .transform((text) => parseSize(text))
    .pipe(z.number().min(smallestBytes));
}
