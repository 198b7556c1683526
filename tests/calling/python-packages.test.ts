import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['pythonClients'], (command) => {
  describePrograms('Python', ['requests', 'urllib3', 'httpx'], { fileName: 'program.py', command, args: ['-B'] });
});
