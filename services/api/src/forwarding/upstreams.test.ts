import { byteSizeSchema } from '@enterprise-api/shared/runtime';
import { expect, it } from '@jest/globals';
import { upstreamsSetting } from './upstreams.ts';

it('API_UPSTREAMS names the base URL of each area', () => {
  const upstreams = upstreamsSetting.parse('consultations=http://c:8080, batches=http://c:8080,scim=https://i/base');
  const shown = [...upstreams].map(([area, { href }]) => `${area} ${href}`);
  expect(shown).toEqual(['consultations http://c:8080/', 'batches http://c:8080/', 'scim https://i/base']);
  expect(upstreamsSetting.parse('').size).toBe(0);
});

it.each([
  'nowhere=http://c',
  'consultations',
  'consultations=',
  'consultations=c:8080',
  'consultations=ftp://c',
  'consultations=http://user:word@c',
  'consultations=http://@c/',
  'consultations=http://c/?',
  'consultations=http://c/?a=b',
  'consultations=http://c/#',
  'consultations=http://c,consultations=http://d',
])('API_UPSTREAMS is refused: %s', (text) => {
  expect(upstreamsSetting.safeParse(text).success).toBe(false);
});

it('a size is a whole number with a binary unit', () => {
  expect(['64KiB', '4MiB', '1GiB'].map((text) => byteSizeSchema.parse(text))).toEqual([2 ** 16, 2 ** 22, 2 ** 30]);
  for (const text of ['4', '4MB', '4 MiB', '-1KiB', '1.5GiB', 'MiB']) {
    expect(byteSizeSchema.safeParse(text).success).toBe(false);
  }
});
