import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['pythonClients'], (command) => {
  describePrograms('Python', ['with_requests.py', 'with_urllib3.py', 'with_httpx.py'], {
    fileName: 'program.py',
    command,
    args: ['-B'],
  });
});
