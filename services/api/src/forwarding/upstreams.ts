import { type Area, areaNames } from '@enterprise-api/shared/contracts';
import { commaList } from '@enterprise-api/shared/runtime';
import { z } from 'zod';

export type Upstreams = ReadonlyMap<Area, URL>;

/** Parses `consultations=http://consultations:8080,scim=https://identity.internal`. */
export const upstreamsSetting = z.string().transform((text, context): Upstreams => {
  const upstreams = new Map<Area, URL>();
  for (const entry of commaList(text)) {
    const [, area = '', base = ''] = /^([a-z]+)=(.+)$/.exec(entry) ?? [];
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    if (!isArea(area)) refuse(`each entry must be area=url, where the area is one of ${areaNames.join(', ')}`);
    else if (upstreams.has(area)) refuse(`${area} appears more than once`);
    else {
      const url = URL.parse(base);
      const problem = url === null ? 'is not a URL' : problemOf(url, base);
      if (problem !== null) refuse(`the URL of ${area} ${problem}`);
      else if (url !== null) upstreams.set(area, url);
    }
  }
  return upstreams;
});

function isArea(name: string): name is Area {
  return (areaNames as readonly string[]).includes(name);
}

function problemOf(url: URL, text: string): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must not have credentials';
  // The parsed URL does not show an empty query or fragment, so search the text.
  if (text.includes('?') || text.includes('#')) return 'must not have a query or a fragment';
  if (/\/\/[^/]*@/.test(text)) return 'must not have credentials';
  return null;
}
