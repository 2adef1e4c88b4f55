import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { aJob } from '@waybill/core/testing';
import { expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from './store.ts';
import { tempFile } from './testing/temp-store.ts';

async function open() {
  const path = tempFile();
  const store = await sqliteStore({ path });
  onTestFinished(() => store.close());
  await store.insert([{ jobs: [aJob()] }]);
  return { path, store };
}

// fault: somebody deletes the database file while the store has it open
it('A22: guarantee 1: a job is refused once the database file was deleted', async () => {
  const { path, store } = await open();
  const aside = `${path}.aside`;
  renameSync(path, aside);
  const refused = { code: 'unavailable', message: expect.stringContaining('was deleted while it was open') };
  await expect(store.insert([{ jobs: [aJob()] }])).rejects.toMatchObject(refused);
  await expect(store.count({ tenant: '' }, { atMost: 9 })).rejects.toMatchObject(refused);
  renameSync(aside, path);
  expect(await store.insert([{ jobs: [aJob()] }])).toMatchObject([{ status: 'inserted' }]);
});

// fault: another file is put in the place of the database
it('A22: guarantee 1: a job is refused once another file took the place of the database', async () => {
  const { path, store } = await open();
  copyFileSync(path, `${path}.copy`);
  rmSync(path);
  renameSync(`${path}.copy`, path);
  const refused = { code: 'unavailable', message: expect.stringContaining('was replaced by another one') };
  await expect(store.insert([{ jobs: [aJob()] }])).rejects.toMatchObject(refused);
});
