import type { QueueJobs } from '../internal/types.ts';
import { count, orDash, time } from '../present/format.ts';

const states = ['waiting', 'active', 'delayed', 'failed'] as const;

/** The page's style. The page has no script and reloads every five seconds. */
export const boardStyle = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .8rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.text { overflow-wrap: anywhere; }
`;

/**
 * Renders the board: the number of jobs per queue and state, and the newest jobs of the selected state.
 *
 * @param at time of the request, RFC 3339
 */
export function boardPage(at: string, found: QueueJobs): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width">
<title>Queues</title>
<link rel="stylesheet" href="board.css">
<h1>Queues</h1>
<p>${escaped(time(at))} UTC. Reloads every five seconds. Nothing can be changed here.</p>
${queuesTable(found.queues)}
${jobsTable(found)}
</html>
`;
}

function queuesTable(queues: QueueJobs['queues']): string {
  const titles = ['Queue', ...states, 'workers'].map((title) => `<th scope="col">${escaped(title)}</th>`).join('');
  const rows = queues.map((queue) => {
    const cells = states.map((state) => {
      const link = `?queue=${encodeURIComponent(queue.name)}&state=${state}`;
      return `<td class="number"><a href="${escaped(link)}">${escaped(count(queue[state]))}</a></td>`;
    });
    const name = queue.is_paused ? `${queue.name} (paused)` : queue.name;
    return `<tr><th scope="row">${escaped(name)}</th>${cells.join('')}<td class="number">${escaped(orDash(queue.workers))}</td></tr>`;
  });
  return `<table><tr>${titles}</tr>${rows.join('')}</table>`;
}

function jobsTable({ queue, state, jobs }: QueueJobs): string {
  const heading = `<h2>${escaped(queue)}: ${escaped(state)}</h2>`;
  if (jobs.length === 0) return `${heading}<p>None.</p>`;
  const rows = jobs.map(
    (job) =>
      `<tr><td>${escaped(job.id)}</td><td>${escaped(time(job.added_at))}</td><td class="number">${job.attempts}</td>` +
      `<td class="text">${escaped(job.failed_reason ?? '')}</td><td class="text">${escaped(job.event_ids.join(' '))}</td></tr>`,
  );
  const titles = ['Job', 'Added (UTC)', 'Begun', 'Reason', 'Events'].map((title) => `<th scope="col">${title}</th>`);
  return `${heading}<table><tr>${titles.join('')}</tr>${rows.join('')}</table>`;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, because anyone may have chosen the names and failure reasons of jobs. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
}
