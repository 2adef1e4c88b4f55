import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../sdk/connect.ts';
import { openBlobs } from './open-blobs.ts';

const freshFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-blobs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

test.each(['file:', 'file://'])('%s names a folder, and the threshold what is too large for a row', async (scheme) => {
  const folder = await freshFolder();
  const waybill = await connect('sqlite::memory:', { blobs: `${scheme}${folder}?threshold=100` });
  onTestFinished(() => waybill.close());
  const [small, large] = ['x'.repeat(90), 'x'.repeat(110)];
  const { job } = await waybill.jobs.enqueue({ type: 'a.small', args: [small] });
  const { job: other } = await waybill.jobs.enqueue({ type: 'a.large', args: [large] });
  expect(await readdir(join(folder, 'jobs'))).toEqual([other.id]);
  expect((await waybill.jobs.get(job.id)).spec.args).toEqual([small]);
  expect((await waybill.jobs.get(other.id)).spec.args).toEqual([large]);
});

test('s3 is opened by bucket and prefix', async () => {
  const { store, threshold } = await openBlobs('s3://payloads/ours?region=eu-west-1&threshold=4096');
  onTestFinished(() => store.close());
  expect(threshold).toBe(4_096);
  expect(store.presign).toBeTypeOf('function');
});

test.each(['', 'file:', 'ftp://x', 's3:', 's3://bucket?nonsense=1', 'file:x?threshold=much', 'file:x?other=1'])(
  '%j is refused',
  async (address) => {
    await expect(openBlobs(address)).rejects.toMatchObject({ code: 'invalid_request' });
  },
);

test('a threshold that is too small is refused', async () => {
  const refused = connect('sqlite::memory:', { blobs: 'file:x?threshold=3' });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('16') });
});
