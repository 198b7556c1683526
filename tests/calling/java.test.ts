import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

const command = requireToolchain('java');
describePrograms('Java', ['HttpClient'], { fileName: 'Calls.java', command, args: [] });
