/** The request that a form describes, for `fetch`: to this origin, with nothing that the browser would add of its own. */
export function requestOf(form, origin) {
  const filled = [...form.querySelectorAll('[data-name]')].filter(({ value }) => value !== '');
  const valuesIn = (place) => filled.filter(({ dataset }) => dataset.in === place);
  const url = new URL(pathOf(form.dataset.path, valuesIn('path')), origin);
  if (url.origin !== origin) throw new Error('the address is not one of this API');
  for (const { dataset, value } of valuesIn('query')) url.searchParams.append(dataset.name, value);
  const headers = new Headers(valuesIn('header').map(({ dataset, value }) => [dataset.name, value]));
  const key = form.querySelector('[data-key]')?.value.trim();
  if (key) headers.set('Authorization', `Bearer ${key}`);
  const method =
    form.querySelector('[data-method-choice]')?.value ?? form.querySelector('[data-method]').dataset.method;
  const body = method === 'GET' ? '' : form.querySelector('[data-body]')?.value.trim();
  if (body) headers.set('Content-Type', 'application/json');
  return {
    url,
    method,
    headers,
    ...(body && { body }),
    mode: 'same-origin',
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
  };
}

function pathOf(template, fields) {
  const filled = fields.reduce((path, { dataset, value }) => {
    const encoded = dataset.below === undefined ? encodedSegment(value) : encodedBelow(value);
    return path.replace(`{${dataset.name}}`, () => encoded);
  }, template);
  return filled.replace('{below}', '');
}

function encodedSegment(text) {
  // The browser would resolve `..` before it sends the path, and so ask for another one.
  if (/^\.+$/.test(text)) throw new Error(`"${text}" is no part of a path`);
  return encodeURIComponent(text);
}

/** What stands below the path of an area: segments and a query, as they were typed. */
function encodedBelow(text) {
  const [path, ...query] = text.split('?');
  const segments = path.replace(/^\//, '').split('/').map(encodedSegment);
  return [`/${segments.join('/')}`, ...query].join('?');
}
