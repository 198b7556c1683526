import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

const command = requireToolchain('pythonClients');
describePrograms('Python', ['requests', 'urllib3', 'httpx'], { fileName: 'program.py', command, args: ['-B'] });
