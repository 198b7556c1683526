import { describe, expect, it } from '@jest/globals';
import { firstUnderRules, migrationProblems } from './rules.ts';

const problemsOf = (...statements: string[]) =>
  migrationProblems({ name: '0099-example', statements, unusedSince: undefined, released: [] });

describe('a migration that lets the version before go on', () => {
  it.each([
    ['a column that may be null', 'alter table webhooks add column note text'],
    ['a column with a constant default', `alter table webhooks add column kind text not null default 'a'`],
    ['a table with its indexes', 'create table notes (id uuid primary key)', 'create index notes_by_id on notes (id)'],
    ['a constraint that is checked for new rows', 'alter table webhooks add constraint c check (true) not valid'],
    ['its validation', 'alter table webhooks validate constraint c'],
    ['a null that is allowed', 'alter table events alter column body drop not null'],
    ['a unique constraint of an index that is there', 'alter table webhooks add unique using index webhooks_u'],
    ['a function', 'create or replace function f() returns int language sql as $$ select 1 -- drop table x $$'],
    ['a row', `insert into retention_progress values ('drop table x')`],
  ])('may add %s', (_what, ...statements) => {
    expect(problemsOf(...statements)).toEqual([]);
  });

  it.each([
    ['drop table webhooks', 'drops'],
    ['alter table webhooks drop column url', 'drops'],
    ['ALTER TABLE "webhooks" DROP   COLUMN "url"', 'drops'],
    ['alter table webhooks drop constraint c', 'drops'],
    ['drop index concurrently webhooks_by_url', 'drops an index'],
    ['alter table webhooks rename column url to address', 'renames'],
    ['alter table webhooks rename to hooks', 'renames'],
    ['alter index a rename to b', 'renames'],
    ['alter table webhooks alter column description set not null', 'forbids null'],
    ['alter table webhooks alter column url type varchar(10)', 'changes the type of a column'],
    ['alter table webhooks alter url set data type varchar(10)', 'changes the type of a column'],
    ['alter table webhooks alter column url set default 1', 'changes a default'],
    ['truncate webhooks', 'empties a table'],
    ['revoke all on webhooks from public', 'takes a right away'],
  ])('must not: %s', (statement, problem) => {
    expect(problemsOf(statement)).toEqual([expect.stringMatching(new RegExp(`^0099-example: ${problem}: .*contract`))]);
  });

  it.each([
    ['create index a on webhooks (url)', 'onlineIndexes'],
    ['create unique index a on webhooks (url)', 'onlineIndexes'],
    ['alter table webhooks add unique (url)', 'using index'],
    ['alter table webhooks add primary key (url)', 'using index'],
    ['alter table webhooks add constraint c check (url is not null)', 'not valid'],
    ['alter table webhooks add foreign key (id) references events', 'not valid'],
    ['lock table webhooks in access exclusive mode', 'locks a table'],
    ['vacuum full webhooks', 'rewrites'],
    ['alter table webhooks add column at timestamptz default clock_timestamp()', 'rewrites'],
    ['alter table webhooks add column at timestamptz not null', 'give it a default'],
  ])('must not keep others waiting: %s', (statement, advice) => {
    expect(problemsOf(statement)).toEqual([expect.stringContaining(advice)]);
  });

  it('may not change another table under cover of one that it creates', () => {
    expect(problemsOf('create table notes (id int)', 'alter table webhooks drop column url')).toHaveLength(1);
  });
});

describe('a contract migration', () => {
  const statements = ['alter table webhooks drop column url'];
  const contract = { name: '0099-example', statements, unusedSince: '1.2.0' };

  it('removes what no code has used since a version that is released', () => {
    expect(migrationProblems({ ...contract, released: ['1.1.0', '1.2.0'] })).toEqual([]);
  });

  it('does not ship with the version that stops using it', () => {
    expect(migrationProblems({ ...contract, released: ['1.1.0'] })).toEqual([expect.stringContaining('not released')]);
  });

  it('keeps nobody waiting either', () => {
    const slow = { ...contract, statements: ['create index a on webhooks (url)'], released: ['1.2.0'] };
    expect(migrationProblems(slow)).toEqual([expect.stringContaining('onlineIndexes')]);
  });
});

it('migrations from before the first release are not held to the rules', () => {
  const statements = ['drop table webhooks'];
  const problems = (name: string) => migrationProblems({ name, statements, unusedSince: undefined, released: [] });
  expect(problems('0020-pending-deliveries')).toEqual([]);
  expect(problems(`${firstUnderRules}-first`)).toHaveLength(1);
});
