import { type JobName, jobs } from '@enterprise-api/shared/queue';
import { describe, expect, it } from '@jest/globals';
import { formOf, readJobForms } from './job-forms.ts';

const names = Object.keys(jobs) as JobName[];

describe.each(names)('the job %s', (name) => {
  const forms = readJobForms().filter(({ job }) => job === name);

  it('has the form that the newest of its files describes: a new form gets a file of its own', () => {
    expect(forms.at(-1)?.schema).toEqual(formOf(name));
  });

  it.each(forms)('is still understood as producers wrote it: $file', ({ examples }) => {
    expect(examples.length).toBeGreaterThan(0);
    const refused = examples.filter((example) => !jobs[name].data.safeParse(example).success);
    expect(refused).toEqual([]);
  });
});
