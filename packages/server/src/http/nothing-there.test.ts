import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

test('L7: the refusal of an unknown path names only paths that this server answers', async () => {
  const { app } = harness();
  const response = await app.request('/ojs/v1/jbos');
  const { error } = (await response.json()) as { error: { code: string; hint: string } };
  expect([response.status, error.code]).toEqual([404, 'not_found']);
  const [path] = /(?<=GET )\S+/.exec(error.hint)!;
  expect((await app.request(path)).status).toBe(200);
});
