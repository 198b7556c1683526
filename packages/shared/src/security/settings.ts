import { z } from 'zod';
import { canonicalCidr } from './cidr.ts';
import { type KeyRing, parseKeyRing } from './secret-box.ts';

/**
 * `id:base64(32 bytes)[,…]`: the key ring that seals webhook secrets, or the seeds that sign identity tokens. The
 * parser's error messages never contain a key's bytes.
 */
export const keyRingSetting = z.string().transform((text, context): KeyRing => {
  const parsed = parseKeyRing(text);
  if (parsed.ok) return parsed.keys;
  context.addIssue({ code: 'custom', message: parsed.problems.join('; ') });
  return z.NEVER;
});

/** A comma list of addresses and CIDRs, in canonical form. */
export const addressRangesSetting = z.string().transform((text, context): string[] => {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      const range = canonicalCidr(entry);
      if (range === null) context.addIssue({ code: 'custom', message: `${entry} is not an address range (CIDR)` });
      return range ?? '';
    });
});
