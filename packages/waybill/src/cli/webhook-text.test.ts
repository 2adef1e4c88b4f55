import type { WireWebhook } from '@waybill/client';
import { expect, test } from 'vitest';
import { shownUrl } from './webhook-text.ts';

test.each([
  ['https://example.com/hooks', 'https://example.com/hooks'],
  ['https://a-long-name-of-a-host-2.example.com/', 'https://a-long-name-of-a-host-2.example.com/'],
  ['https://example.com/a-path-that-is-made-of-words/v2', 'https://example.com/a-path-that-is-made-of-words/v2'],
  [
    'https://hooks.example.com/services/T024BE7LD/B4Xq9zWm3KpLr7TfYc2N',
    'https://hooks.example.com/services/T024BE7LD/***',
  ],
  ['https://example.com/B4Xq9zWm3KpLr7TfYc2N/in?token=abc', 'https://example.com/***/in?token=***'],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl({ url } as WireWebhook)).toBe(shown);
});
