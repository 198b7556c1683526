import { render } from 'preact';
import { configuration } from './api/client.ts';
import { App } from './app.tsx';
import { startRouter } from './router.ts';

const response = await fetch('/console/config.json', { cache: 'no-store' }).catch(() => undefined);
if (response?.ok) configuration.set(await response.json());

// When the element with the focus leaves the page, its panel takes the focus, or else the heading.
let focused: HTMLElement[] = [];
addEventListener('focusin', (event) => {
  focused = event.composedPath() as HTMLElement[];
});
new MutationObserver(() => {
  if (focused[0]?.isConnected !== false || document.activeElement !== document.body) return;
  const panel = focused.find(({ isConnected, tagName }) => isConnected && tagName === 'SECTION');
  (panel ?? document.querySelector('h1'))?.focus({ preventScroll: true });
}).observe(document.body, { childList: true, subtree: true });

startRouter();
render(<App />, document.getElementById('app') as HTMLElement);
