import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

const packages = ['github.com/hashicorp/go-retryablehttp@v0.7.8', 'github.com/go-resty/resty/v2@v2.17.2'];
describeWith(['go', 'downloads'], (go) => {
  describePrograms('Go', ['go-retryablehttp.go', 'resty.go'], {
    fileName: 'main.go',
    command: go,
    args: ['run'],
    fetchPackages: async (run) => {
      await run(go, ['mod', 'init', 'program']);
      await run(go, ['get', ...packages]);
    },
  });
});
