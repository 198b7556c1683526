import { render } from 'preact';
import { configuration } from './api/client.ts';
import { App } from './app.tsx';
import { startRouter } from './router.ts';

const response = await fetch('/console/config.json', { cache: 'no-store' }).catch(() => undefined);
if (response?.ok) configuration.set(await response.json());

startRouter();
render(<App />, document.getElementById('app') as HTMLElement);
