import { render } from 'preact';
import type { Configuration } from './api/types.ts';
import { App } from './app.tsx';
import { startRouter } from './router.ts';

const response = await fetch('/console/config.json', { cache: 'no-store' }).catch(() => undefined);
const configuration: Configuration = response?.ok ? await response.json() : { sign_in_url: null, brand: null };

startRouter();
render(<App configuration={configuration} />, document.getElementById('app') as HTMLElement);
