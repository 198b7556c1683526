import { readdirSync, readFileSync } from 'node:fs';
import { type JobName, jobs } from '@enterprise-api/shared/queue';
import { z } from 'zod';

/** A form that the data of a job had in some version. Its file stays for ever: a queue may still hold such jobs. */
export interface JobForm {
  file: string;
  job: JobName;
  /** The JSON Schema of that version, as {@link formOf} makes it. */
  schema: unknown;
  /** Data as the producers of that version wrote them. */
  examples: unknown[];
}

const folder = new URL('./forms/', import.meta.url);

export function readJobForms(): JobForm[] {
  return readdirSync(folder)
    .sort()
    .map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }));
}

/** What producers may write today, without the texts that explain it. */
export function formOf(name: JobName): unknown {
  const schema = z.toJSONSchema(jobs[name].data, { io: 'input', unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(schema, (key, value) => (isText(key, value) ? undefined : value)));
}

const texts = new Set(['$schema', 'id', 'title', 'description', 'examples']);

/** A property of an event may be named like one of them, but is an object. */
function isText(key: string, value: unknown): boolean {
  return texts.has(key) && (typeof value === 'string' || Array.isArray(value));
}
