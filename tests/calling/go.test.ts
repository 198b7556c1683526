import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

const command = requireToolchain('go');
describePrograms('Go', ['net/http'], { fileName: 'main.go', command, args: ['run'] });
