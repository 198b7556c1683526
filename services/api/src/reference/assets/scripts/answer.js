import { indentJson } from './json.js';

/** How much of an answer is shown, in characters. */
const shownAtMost = 200_000;

const shownHeaders = [
  ['x-request-id', 'Request id'],
  ['retry-after', 'Retry after (seconds)'],
  ['etag', 'ETag'],
  ['location', 'Location'],
];

export function clearAnswer(form) {
  const { summary, body } = partsOf(form);
  summary.textContent = 'Waiting for the answer …';
  body.hidden = true;
}

export function showFailure(form, text) {
  partsOf(form).summary.textContent = text;
}

/** Shows an answer as text, whatever is in it; a stream of events as it comes. */
export async function showAnswer(form, response, durationMs, signal) {
  const { summary, body } = partsOf(form);
  const lines = [`${response.status} ${response.statusText}, after ${durationMs} ms`, ...headerLines(response.headers)];
  summary.replaceChildren(...lines.map(paragraph));
  const code = body.querySelector('code');
  code.textContent = '';
  body.hidden = response.body === null;
  const text = await readText(response, signal, (soFar) => {
    code.textContent = soFar;
  });
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  code.textContent = isJson && text.length < shownAtMost ? indentJson(text) : text;
  body.hidden = text === '';
}

function partsOf(form) {
  return { summary: form.querySelector('[data-answer]'), body: form.querySelector('[data-answer-body]') };
}

function paragraph(text) {
  const element = document.createElement('p');
  element.textContent = text;
  return element;
}

function headerLines(headers) {
  const lines = shownHeaders
    .filter(([name]) => headers.has(name))
    .map(([name, label]) => `${label}: ${headers.get(name)}`);
  const [limit, left, reset] = ['limit', 'remaining', 'reset'].map((part) => headers.get(`x-ratelimit-${part}`));
  if (limit === null) return lines;
  const until = new Date(Number(reset) * 1_000).toLocaleTimeString();
  return [...lines, `Rate limit: ${left} of ${limit} requests left until ${until}`];
}

/** The text of an answer, up to a length; `onPart` gets what there is after each part of a stream. */
async function readText(response, signal, onPart) {
  let text = '';
  const decoder = new TextDecoderStream();
  for await (const part of partsOfStream(response.body?.pipeThrough(decoder, { signal }))) {
    text += part;
    if (text.length > shownAtMost) return `${text.slice(0, shownAtMost)}\n… (the rest is not shown)`;
    onPart(text);
  }
  return text;
}

async function* partsOfStream(stream) {
  const reader = stream?.getReader();
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader.read()) yield read.value;
  } finally {
    void reader?.cancel().catch(() => undefined);
  }
}
