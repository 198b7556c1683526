import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorBodySchema } from '../contracts/index.ts';
import { errorAnswer, RequestError } from './errors.ts';

const secret = 'relation "users" does not exist';
const ofExpress = (status: number) => Object.assign(new Error(secret), { status, expose: true });

describe('the answer to a request that failed', () => {
  it.each([
    ['a refusal', new RequestError('conflict'), 409, 'conflict', /state/],
    [
      'a refusal in its own words',
      new RequestError('not_found', 'No such panel.'),
      404,
      'not_found',
      /^No such panel\.$/,
    ],
    [
      'input that does not fit its schema',
      z.object({ limit: z.number() }).safeParse({}).error,
      400,
      'validation_failed',
      /limit/,
    ],
    ['a body that is no JSON', ofExpress(400), 400, 'validation_failed', /not valid/],
    ['a body that is too large', ofExpress(413), 413, 'payload_too_large', /too large/],
    ['a body of another type', ofExpress(415), 415, 'unsupported_media_type', /application\/json/],
    ['a status that no code has', ofExpress(418), 500, 'internal_error', /wrong/],
    ['an error of ours', new Error(secret), 500, 'internal_error', /wrong/],
    ['nothing at all', undefined, 500, 'internal_error', /wrong/],
  ])('says what %s is, in the shape of the API, and no text of a library', (_what, error, status, code, message) => {
    const answer = errorAnswer(error, 'req_1');
    expect(answer.status).toBe(status);
    const { error: told } = errorBodySchema.parse(answer.body);
    expect(told).toMatchObject({ code, request_id: 'req_1', message: expect.stringMatching(message) });
    expect(JSON.stringify(answer)).not.toContain(secret);
  });

  it('names no request where the service was not told its id', () => {
    expect(errorAnswer(new RequestError('conflict'), undefined).body.error.request_id).toBeNull();
  });
});
