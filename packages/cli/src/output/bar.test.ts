import { expect, it } from '@jest/globals';
import { bar } from './bar.ts';

it.each([
  [0, ''],
  [0.5, '████'],
  [1, '████████'],
  [2, '████████'],
  [-1, ''],
  [1 / 16, '▌'],
])('a bar of %d in eight columns', (share, expected) => {
  expect(bar(share, 8)).toBe(expected);
});

it('shows that there is something, however little', () => {
  expect(bar(0.000_001, 20)).toBe('▏');
});
