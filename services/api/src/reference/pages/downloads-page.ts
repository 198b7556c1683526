import type { Download } from '../downloads.ts';
import { codeBlock, type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';

const runNewest =
  'npx --yes --package=https://api.example.com/docs/downloads/cli.tgz enterprise-api listen --forward-to http://localhost:4000/hooks';

/** @param fillIn puts the address of this API in the place of the example's */
export function downloadsPage(downloads: readonly Download[], fillIn: (text: string) => string): Page {
  const sdk = downloads.find(({ name }) => name === 'sdk');
  const cli = downloads.find(({ name }) => name === 'cli');
  return {
    path: '/docs/downloads',
    title: 'Downloads',
    description: 'Install the SDK and the command line from this API.',
    main: html`<p class="lead">Install the SDK and the command line from this API. No package registry has them: install neither by its name.</p>
${
  sdk === undefined || cli === undefined
    ? html`<p>This API has no downloads, because its build did not make them.</p>`
    : html`${sdkSection(sdk, fillIn)}${cliSection(cli, fillIn)}`
}`,
  };
}

function sdkSection(sdk: Download, fillIn: (text: string) => string): Html {
  return html`<h2 id="sdk"><a href="#sdk">SDK for Node.js</a></h2>
<p>Download the file and keep it in your repository. The verifier of webhooks needs Node.js 20, the client needs Node.js 22.12.</p>
${install(sdk, fillIn)}`;
}

function cliSection(cli: Download, fillIn: (text: string) => string): Html {
  return html`<h2 id="cli"><a href="#cli">Command line</a></h2>
<p>Run the newest version without installing it. You need Node.js 22.12 or newer.</p>
${codeBlock(fillIn(runNewest))}
<p>Install it, so that your shell finds the command <code>enterprise-api</code>:</p>
${codeBlock(fillIn(`npm install --global https://api.example.com${cli.path}`))}
<p>To keep one version in a project, install its file. Then run <code>npx --no enterprise-api --help</code>.</p>
${install(cli, fillIn)}`;
}

function install({ fileName, path, integrity }: Download, fillIn: (text: string) => string): Html {
  return html`${codeBlock(fillIn(`curl -fO https://api.example.com${path}\nnpm install ./${fileName}`))}
<dl class="fields"><div><dt><code>${fileName}</code></dt><dd>Integrity: <code>${integrity}</code></dd></div></dl>
`;
}
