import { describe, expect, it } from '@jest/globals';
import { hasMoved } from './calibration.ts';

describe('hasMoved', () => {
  it('tolerates a tenth in both directions', () => {
    expect([hasMoved(2, 2.19), hasMoved(2.19, 2), hasMoved(2, 2.21), hasMoved(2.21, 2)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
