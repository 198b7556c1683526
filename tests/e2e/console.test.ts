import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type ConsoleStage, openConsoleStage, press, tabTo } from '../browser/console-stage.ts';

jest.setTimeout(300_000);

let stage: ConsoleStage;
beforeAll(async () => {
  stage = await openConsoleStage(undefined);
});
afterAll(async () => stage[Symbol.asyncDispose]());

it('a developer opens the link, adds a webhook and verifies a test, by keyboard alone', async () => {
  await using window = await stage.browser.open();
  const { page } = window;
  await page.goto(await stage.link());
  await press(page, page.getByRole('button', { name: 'Open console' }));
  await press(page, page.getByRole('link', { name: 'Add webhook' }));
  await tabTo(page, page.getByLabel('URL'));
  await page.keyboard.insertText(stage.receiver.url('/hook'));
  await page.keyboard.press('Enter');
  await page.getByText('It is shown only here.').waitFor();
  await press(page, page.getByRole('button', { name: 'Send test' }));
  await page.getByText('The test arrived.').waitFor();
  await press(page, page.getByRole('link', { name: 'Overview' }));
  await page.locator('.steps li.done').nth(2).waitFor();
  expect(stage.receiver.requests).toHaveLength(1);
  expect(window.complaints).toEqual([]);
});
