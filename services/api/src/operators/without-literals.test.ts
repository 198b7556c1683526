import { expect, it } from '@jest/globals';
import { withoutLiterals } from './without-literals.ts';

it.each([
  [
    'select  1,\n $1, t2.c_3 from deliveries_2026_11 where x = 1.5e3',
    'select ?, $1, t2.c_3 from deliveries_2026_11 where x = ?',
  ],
  [`select 'it''s -- secret', "a'b" from t where y = 'z'`, `select ?, "a'b" from t where y = ?`],
  [`select E'it\\'s secret', e'x' || 'y\\' from t`, 'select ?, ? || ? from t'],
  ['do $$ secret $$; select $tag$ a $$ b $tag$, $1', 'do ?; select ?, $1'],
  [`select 1 -- secret\nfrom t /* secret */ where x = 'cut of`, 'select ? from t where x = ?'],
  [`select $1 /* cut off`, 'select $1'],
  [`select $$ cut off`, 'select ?'],
])('%j has no literal', (statement, expected) => {
  expect(withoutLiterals(statement)).toBe(expected);
});

it('a long statement is cut', () => {
  expect(withoutLiterals(`select ${'a'.repeat(2_000)}`)).toHaveLength(501);
});
