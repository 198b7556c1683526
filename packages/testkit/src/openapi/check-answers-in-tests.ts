import { checkEveryAnswer } from '../http/api-client.ts';
import { checkAnswer } from './answer-check.ts';

// Jest runs this before each file of tests: an answer that the OpenAPI document does not describe fails its test.
checkEveryAnswer(checkAnswer);
