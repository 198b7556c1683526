import { readFileSync } from 'node:fs';
import { z } from 'zod';

const maxLogoBytes = 20 * 1_024;
const pngMagic = Buffer.from('89504e470d0a1a0a', 'hex');

const brandSchema = z.strictObject({
  name: z.string().min(1).max(100),
  /** A PNG in base64. */
  logo: z
    .base64()
    .refine((text) => {
      const bytes = Buffer.from(text, 'base64');
      return bytes.length <= maxLogoBytes && bytes.subarray(0, pngMagic.length).equals(pngMagic);
    }, 'must be a PNG of at most 20 KiB in base64')
    .nullable()
    .default(null),
});

/** Turns the path of a JSON file `{name, logo}` into its content, which the console shows. */
export const brandFileSchema = z.string().transform((path, context) => {
  try {
    return brandSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    context.addIssue({
      code: 'custom',
      message: 'must be a JSON file {"name", "logo"}; the logo a PNG of at most 20 KiB in base64',
    });
    return z.NEVER;
  }
});
