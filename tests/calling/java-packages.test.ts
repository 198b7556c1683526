import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

requireToolchain('downloads');
const maven = requireToolchain('maven');
const manifest = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>program</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.squareup.okhttp3</groupId><artifactId>okhttp-jvm</artifactId><version>5.5.1</version></dependency>
  </dependencies>
</project>
`;
describePrograms('Java', ['OkHttp'], {
  fileName: 'Calls.java',
  command: 'java',
  args: ['-cp', 'packages/*'],
  fetchPackages: async (run, folder) => {
    await writeFile(join(folder, 'pom.xml'), manifest);
    await run(maven, ['--batch-mode', 'dependency:copy-dependencies', '-DoutputDirectory=packages']);
  },
});
