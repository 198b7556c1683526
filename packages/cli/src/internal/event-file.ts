import { Failure } from '../failure.ts';

/** The API's limit of events per request. */
const eventsPerRequest = 1_000;
/** Maximum bytes of events per request; less than the API's limit of 4 MiB. */
const bytesPerRequest = 3 * 1024 * 1024;

interface EventFields {
  organization_id: string;
  type: string;
  id?: string | undefined;
  occurred_at?: string | undefined;
}

/** Returns an event as JSON. Keeps the original text of `data`, so that numbers keep all their digits. */
export function eventText(fields: EventFields, data: string): string {
  parseObject(data, '--data');
  return `${JSON.stringify(fields).slice(0, -1)},"data":${data}}`;
}

/**
 * Splits a file into its events and keeps each event's JSON text.
 *
 * @param text one event per line, or an array of events
 * @param organizationId for events that name no organization
 */
export function eventTexts(text: string, organizationId: string | undefined): string[] {
  return text.trimStart().startsWith('[') ? fromArray(text, organizationId) : fromLines(text, organizationId);
}

function fromLines(text: string, organizationId: string | undefined): string[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    return [withOrganization(line.trim(), parseObject(line, `Line ${index + 1}`), organizationId, `Line ${index + 1}`)];
  });
}

function fromArray(text: string, organizationId: string | undefined): string[] {
  const events = parse(text, 'The file');
  if (!Array.isArray(events))
    throw new Failure('usage', 'The file must contain one event per line or an array of events.');
  return events.map((event, index) => {
    const place = `Event ${index + 1}`;
    if (!isObject(event)) throw new Failure('usage', `${place} is not an object.`);
    return withOrganization(JSON.stringify(event), event, organizationId, place);
  });
}

function withOrganization(text: string, event: object, organizationId: string | undefined, place: string): string {
  if ('organization_id' in event) return text;
  if (organizationId === undefined)
    throw new Failure('usage', `${place} has no organization_id.`, 'Add it, or give --org.');
  const separator = Object.keys(event).length === 0 ? '' : ',';
  return `{"organization_id":${JSON.stringify(organizationId)}${separator}${text.slice(1)}`;
}

/** Groups events into as few requests as the API's limits allow. */
export function* batchesOf(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text) + 1;
    if (batch.length === eventsPerRequest || (batch.length > 0 && bytes + size > bytesPerRequest)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(text);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function parseObject(text: string, place: string): object {
  const value = parse(text, place);
  if (isObject(value)) return value;
  throw new Failure('usage', `${place} is not a JSON object.`);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('usage', `${place} is not JSON: ${(error as Error).message}.`);
  }
}
