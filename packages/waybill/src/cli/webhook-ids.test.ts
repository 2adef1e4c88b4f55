import { expect, test } from 'vitest';
import { wholeWebhookId } from './webhook-ids.ts';

const IDS = ['wh_aaaa11', 'wh_aaaa22', 'wh_abcd33', 'shop-1', 'shop-12'];

/** One id on each page. */
const webhooks = {
  list: async ({ cursor = '0' }: { cursor?: string } = {}) => {
    const at = Number(cursor);
    return { webhooks: [{ id: IDS[at] } as never], ...(at + 1 < IDS.length && { cursor: String(at + 1) }) };
  },
};

test.each([
  ['wh_aaaa11', 'wh_aaaa11'],
  ['wh_abcd', 'wh_abcd33'],
  ['abcd', 'wh_abcd33'],
  ['shop-12', 'shop-12'],
  // A whole id, although another one begins so.
  ['shop-1', 'shop-1'],
])('D11: %s means %s', async (text, id) => {
  expect(await wholeWebhookId(webhooks, text)).toBe(id);
});

test.each([
  ['aaaa', { code: 'invalid_request', hint: 'Give more of it: wh_aaaa11, wh_aaaa22.' }],
  ['wh_aaa', { message: expect.stringContaining('too short') }],
  ['nothing', { code: 'not_found', hint: expect.stringContaining('webhooks list') }],
])('D11: %s is refused', async (text, refusal) => {
  await expect(wholeWebhookId(webhooks, text)).rejects.toMatchObject(refusal);
});
