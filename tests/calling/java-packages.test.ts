import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

const manifest = `<project xmlns="http://maven.apache.org/POM/4.0.0">
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
      await writeFile(join(folder, 'pom.xml'), manifest);
      await run(maven, ['--batch-mode', 'dependency:copy-dependencies', '-DoutputDirectory=packages']);
    },
  });
});
