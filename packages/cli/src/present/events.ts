import type { Event } from '@enterprise-api/sdk';
import type { Field } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { orDash, time } from './format.ts';

export const eventColumns: Column<Event>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'TYPE', text: ({ type }) => type },
  { title: 'SUBJECT', text: ({ subject }) => orDash(subject) },
  { title: 'CREATED (UTC)', text: ({ created_at }) => time(created_at) },
  { title: 'DATA', text: ({ data }) => JSON.stringify(data), isElastic: true },
];

export function eventFields(event: Event): Field[] {
  return [
    ['id', event.id],
    ['type', event.type],
    ['subject', orDash(event.subject)],
    ['created', time(event.created_at)],
    ['occurred', orDash(event.occurred_at && time(event.occurred_at))],
  ];
}
