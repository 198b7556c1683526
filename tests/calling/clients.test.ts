import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describe, expect, it } from '@jest/globals';
import { describeWalk } from '../generated-clients/describe-walk.ts';
import { oapiCodegen } from '../generated-clients/go.ts';
import { openapiPythonClient } from '../generated-clients/python.ts';
import { describePrograms } from './describe-programs.ts';
import { readPagePrograms, runBySuites } from './programs.ts';

describe('Node.js', () => {
  describePrograms('Node.js', ['The SDK', 'fetch.mjs', 'got.mjs', 'undici.mjs'], {
    fileName: 'program.mjs',
    command: process.execPath,
    args: [],
  });
});

describeWith(['curl'], () => {
  describePrograms('curl', ['curl'], { fileName: 'program.sh', command: '/bin/sh', args: ['-e'] });
});

describeWith(['python'], (command) => {
  describePrograms('Python', ['Python'], { fileName: 'program.py', command, args: ['-B'] });
});

describeWith(['go'], (command) => {
  describePrograms('Go', ['Go'], { fileName: 'main.go', command, args: ['run'] });
});

describeWith(['java'], (command) => {
  describePrograms('Java', ['HttpClient.java'], { fileName: 'Calls.java', command, args: [] });
});

describeWith(['npm', 'downloads'], (npm) => {
  describePrograms('Node.js', ['axios.mjs'], {
    fileName: 'program.mjs',
    command: process.execPath,
    args: [],
    fetchPackages: (run) => run(npm, ['install', '--no-save', 'axios@1.21.1', 'axios-retry@4.5.0']),
  });
});

describeWith(['pythonClients'], (command) => {
  describePrograms('Python', ['with_requests.py', 'with_urllib3.py', 'with_httpx.py'], {
    fileName: 'program.py',
    command,
    args: ['-B'],
  });
});

const goPackages = ['github.com/hashicorp/go-retryablehttp@v0.7.8', 'github.com/go-resty/resty/v2@v2.17.2'];
describeWith(['go', 'downloads'], (go) => {
  describePrograms('Go', ['go-retryablehttp.go', 'resty.go'], {
    fileName: 'main.go',
    command: go,
    args: ['run'],
    fetchPackages: async (run) => {
      await run(go, ['mod', 'init', 'program']);
      await run(go, ['get', ...goPackages]);
    },
  });
});

const mavenManifest = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>program</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.squareup.okhttp3</groupId><artifactId>okhttp-jvm</artifactId><version>5.5.1</version></dependency>
  </dependencies>
</project>
`;
describeWith(['maven', 'downloads'], (maven) => {
  describePrograms('Java', ['OkHttp.java'], {
    fileName: 'Calls.java',
    command: 'java',
    args: ['-cp', 'packages/*'],
    fetchPackages: async (run, folder) => {
      await writeFile(join(folder, 'pom.xml'), mavenManifest);
      await run(maven, ['--batch-mode', 'dependency:copy-dependencies', '-DoutputDirectory=packages']);
    },
  });
});

const cargoManifest = `[package]
name = "program"
version = "0.1.0"
edition = "2024"
[[bin]]
name = "program"
path = "main.rs"
[dependencies]
async-trait = "0.1"
http = "1"
reqwest = { version = "0.13", features = ["json"] }
reqwest-middleware = { version = "0.5", features = ["json"] }
reqwest-retry = "0.9"
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt-multi-thread", "time"] }
uuid = { version = "1", features = ["v4"] }
`;
describeWith(['rust', 'downloads'], (cargo) => {
  describePrograms('Rust', ['reqwest.rs'], {
    fileName: 'main.rs',
    command: cargo,
    args: ['run', '--quiet'],
    fetchPackages: (_run, folder) => writeFile(join(folder, 'Cargo.toml'), cargoManifest),
  });
});

describeWith(['openapiPythonClient'], (python) => describeWalk(openapiPythonClient(python)));

describeWith(['go', 'downloads'], (go) => describeWalk(oapiCodegen(go)));

describe('the page and the folder of clients', () => {
  it('have no other programs than those that are run', () => {
    expect([...readPagePrograms().keys()]).toEqual(runBySuites.page);
    const files = readdirSync(join(projectFolder, 'examples/clients')).filter((name) => name !== 'README.md');
    expect(files.toSorted()).toEqual(runBySuites.files.toSorted());
  });
});
