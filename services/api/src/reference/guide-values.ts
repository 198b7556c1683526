import { version } from '@enterprise-api/shared/runtime';
import type { ApiConfig } from '../config.ts';

export type GuideSettings = Pick<
  ApiConfig,
  'publicUrl' | 'rateLimits' | 'forwardingLimits' | 'deliveryPolicy' | 'sourceAddresses'
>;

/** The address of the API in the pages. Without API_PUBLIC_URL, the browser replaces it with its own origin. */
const exampleUrl = 'https://api.example.com';

/**
 * Replaces the defaults in a page with the settings of this API. The page has each default between `<!--name-->` and
 * `<!---->`, so that the page is also right in the repository.
 */
export function fillInWith(settings: GuideSettings): (text: string) => string {
  const values = new Map(Object.entries(valuesOf(settings)));
  return (text) =>
    text
      .replace(/<!--(\w+)-->(.*?)<!---->/g, (_all, name: string, usual: string) => values.get(name) ?? usual)
      .replace(/\b(sdk|cli)-\d+\.\d+\.\d+\.tgz/g, `$1-${version}.tgz`)
      .replaceAll(exampleUrl, settings.publicUrl ?? exampleUrl);
}

function valuesOf(settings: GuideSettings): Record<string, string> {
  const { rateLimits, forwardingLimits, deliveryPolicy: policy, sourceAddresses } = settings;
  const [pro, business, enterprise] = [rateLimits.pro, rateLimits.business, rateLimits.enterprise].map(grouped);
  const addresses = sourceAddresses?.map((each) => `\`${each}\``);
  return {
    rateLimits: `${pro} on pro, ${business} on business and ${enterprise} on enterprise`,
    areaBody: sizeOf(forwardingLimits.maxBodyBytes),
    timeout: wordsOf(policy.timeout_ms),
    attempts: grouped(policy.max_attempts),
    schedule: listed(policy.schedule_ms.map(shortOf)),
    span: spanOf(policy.schedule_ms.reduce((total, delay) => total + delay, 0)),
    jitter: `${grouped(100 * policy.jitter)} %`,
    disableAfter: wordsOf(policy.disable_after_ms),
    disableAttempts: grouped(policy.disable_after_attempts),
    bodies: periodOf(policy.body_retention_seconds, 'a day'),
    history: periodOf(policy.history_retention_seconds, '31 days'),
    ...(addresses !== undefined && {
      sourceAddresses: `Deliveries come from these addresses: ${listed(addresses)}.`,
    }),
    // The served page lists the codes below the text.
    errors: '',
  };
}

const units = [
  ['day', 'd', 86_400_000],
  ['hour', 'h', 3_600_000],
  ['minute', 'min', 60_000],
  ['second', 's', 1_000],
  ['millisecond', 'ms', 1],
] as const;

/** Uses the largest unit without a fraction: `36 h`, `5 days`. Up to two days, uses hours, as schedules usually do. */
function measured(ms: number) {
  const [word, short, size] =
    units.find(([name, , each]) => ms % each === 0 && (name !== 'day' || ms > 2 * each)) ?? units[4];
  return { count: ms / size, word, short };
}

function shortOf(ms: number): string {
  const { count, short } = measured(ms);
  return `${grouped(count)} ${short}`;
}

function wordsOf(ms: number): string {
  const { count, word } = measured(ms);
  return `${grouped(count)} ${word}${count === 1 ? '' : 's'}`;
}

/** `2.6 days`, `3.5 hours`: with at most one digit after the point. */
function spanOf(ms: number): string {
  const [word, , size] = units.find(([, , each]) => ms >= each) ?? units[4];
  return `${(ms / size).toLocaleString('en', { maximumFractionDigits: 1 })} ${word}s`;
}

function periodOf(seconds: number | null, longer: string): string {
  return seconds === null ? 'without limit' : `${wordsOf(1_000 * seconds)}, and at most ${longer} longer`;
}

function listed(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words);
}

function grouped(value: number): string {
  return value.toLocaleString('en');
}

function sizeOf(bytes: number): string {
  const [unit, size] = bytes % 1024 ** 2 === 0 ? ['MiB', 1024 ** 2] : bytes % 1024 === 0 ? ['KiB', 1024] : ['bytes', 1];
  return `${grouped(bytes / Number(size))} ${unit}`;
}
