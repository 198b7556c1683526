import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

requireToolchain('downloads');
const go = requireToolchain('go');
const packages = ['github.com/hashicorp/go-retryablehttp@v0.7.8', 'github.com/go-resty/resty/v2@v2.17.2'];
describePrograms('Go', ['go-retryablehttp', 'resty'], {
  fileName: 'main.go',
  command: go,
  args: ['run'],
  fetchPackages: async (run) => {
    await run(go, ['mod', 'init', 'program']);
    await run(go, ['get', ...packages]);
  },
});
