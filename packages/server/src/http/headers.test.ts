import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

test.each([
  [true, 'max-age=31536000'],
  [false, null],
])(
  'answers are not sniffed, refused ones too; over HTTPS (%s) browsers are told to stay there',
  async (isHttps, hsts) => {
    const { app } = harness({ auth: {} });
    for (const [path, status] of [
      ['/health', 200],
      ['/ojs/v1/jobs', 401],
    ] as const) {
      const answer = await app.request(path, {}, { isHttps });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(answer.headers.get('Strict-Transport-Security')).toBe(hsts);
    }
  },
);
