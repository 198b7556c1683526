import { version } from '@enterprise-api/shared/runtime';
import type { ApiConfig } from '../config.ts';

export type GuideSettings = Pick<ApiConfig, 'publicUrl' | 'rateLimits' | 'forwardingLimits'>;

/** The address of the API in the pages. Without API_PUBLIC_URL, the browser replaces it with its own origin. */
const exampleUrl = 'https://api.example.com';

/**
 * Replaces the defaults in a page with the settings of this API. A default stands between `<!--name-->` and `<!---->`,
 * so that the page is also right in the repository.
 */
export function fillInWith(settings: GuideSettings): (text: string) => string {
  const values = new Map(Object.entries(valuesOf(settings)));
  return (text) =>
    text
      .replace(/<!--(\w+)-->(.*?)<!---->/g, (_all, name: string, usual: string) => values.get(name) ?? usual)
      .replace(/\b(sdk|cli)-\d+\.\d+\.\d+\.tgz/g, `$1-${version}.tgz`)
      .replaceAll(exampleUrl, settings.publicUrl ?? exampleUrl);
}

function valuesOf({ rateLimits, forwardingLimits }: GuideSettings): Record<string, string> {
  const [pro, business, enterprise] = [rateLimits.pro, rateLimits.business, rateLimits.enterprise].map(grouped);
  return {
    rateLimits: `${pro} on pro, ${business} on business and ${enterprise} on enterprise`,
    areaBody: sizeOf(forwardingLimits.maxBodyBytes),
    // The served page lists the codes below the text.
    errors: '',
  };
}

function grouped(value: number): string {
  return value.toLocaleString('en');
}

function sizeOf(bytes: number): string {
  const [unit, size] = bytes % 1024 ** 2 === 0 ? ['MiB', 1024 ** 2] : bytes % 1024 === 0 ? ['KiB', 1024] : ['bytes', 1];
  return `${grouped(bytes / Number(size))} ${unit}`;
}
