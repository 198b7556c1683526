import { clearAnswer, showAnswer, showFailure } from './answer.js';
import { requestOf } from './request.js';

/**
 * Shows the forms that call the API. The key that somebody pastes is in the fields of this page and nowhere else: it is
 * sent to this origin alone, and gone with the page.
 */
export function enableTryIt(page) {
  const forms = [...page.querySelectorAll('form.try')];
  const keyFields = [...page.querySelectorAll('form.try [data-key]')];
  const setKeys = (key) => {
    for (const field of keyFields) field.value = key;
  };
  for (const field of keyFields) field.addEventListener('input', () => setKeys(field.value));
  // Browsers keep pages that were left, to go back to them.
  addEventListener('pagehide', () => setKeys(''));
  for (const form of forms) enableForm(form);
}

function enableForm(form) {
  const stop = form.querySelector('[data-stop]');
  let running = new AbortController();
  stop.addEventListener('click', () => running.abort());
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    running.abort();
    const mine = new AbortController();
    running = mine;
    clearAnswer(form);
    stop.hidden = false;
    try {
      await send(form, mine.signal);
    } catch (error) {
      // Another request of this form shows its own answer.
      if (running === mine) showFailure(form, mine.signal.aborted ? 'Stopped.' : `No answer: ${error.message}`);
    }
    if (running === mine) stop.hidden = true;
  });
  form.hidden = false;
}

async function send(form, signal) {
  const { url, ...request } = requestOf(form, location.origin);
  const startedAt = performance.now();
  const response = await fetch(url, { ...request, signal });
  await showAnswer(form, response, Math.round(performance.now() - startedAt), signal);
}
