import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { envFilesIn } from './env-files.ts';
import { Redactor } from './redactor.ts';

const redactor = new Redactor({ CRM_PASSWORD: 'planted-word', EDITOR: 'plain-editor' });

test('known secrets are masked anywhere, and fields that hold one by their names', () => {
  const value = {
    said: 'it is planted-word.',
    deep: [{ password: 'short' }],
    editor: 'plain-editor',
    n: 1,
    none: null,
  };
  expect(redactor.value(value, 1_000)).toEqual({
    ...{ said: 'it is ***.', deep: [{ password: '***' }], editor: 'plain-editor', n: 1, none: null },
  });
});

test('a known secret is masked in the names of fields too', () => {
  const value = { list: [{ 'planted-word': 1 }] };
  expect(redactor.value(value, 1_000)).toEqual({ list: [{ '***': 1 }] });
  expect(redactor.withoutKnown(value)).toEqual({ list: [{ '***': 1 }] });
});

test('a value that is too long becomes a cut text, and a cut leaves no half of a secret', () => {
  expect(redactor.value({ a: 'x'.repeat(100) }, 20)).toHaveLength(20);
  expect(redactor.text(`${'x'.repeat(15)}planted-word`, 20)).toBe(`${'x'.repeat(15)}***`);
});

test('a transcript keeps its form and the thoughts of the model, and no known secret', () => {
  const thought = { type: 'thinking', thinking: 'planted-word', signature: 'planted-word' };
  const entry = { uuid: 'u', message: { content: [thought, { type: 'text', text: 'planted-word' }] } };
  expect(redactor.transcript(entry)).toEqual({
    ...{ uuid: 'u', message: { content: [thought, { type: 'text', text: '***' }] } },
  });
});

test('secrets of .env files are known, whatever else lies in the folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-env-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, '.env'), 'CRM_TOKEN="planted-one"\nNODE_ENV=development\n');
  await writeFile(join(folder, '.env.local'), 'export DB=postgres://ada:planted-two@db/jobs\n');
  await writeFile(join(folder, 'settings.env'), 'OTHER_TOKEN=planted-three\n');
  await mkdir(join(folder, '.env.d'));
  // To open a FIFO for reading waits for who writes to it.
  execFileSync('mkfifo', [join(folder, '.env.fifo')]);
  await symlink('settings.env', join(folder, '.env.link'));
  const own = new Redactor(...(await envFilesIn(folder)));
  expect(own.text('planted-one planted-two planted-three development', 100)).toBe('*** *** *** development');
  expect(await envFilesIn(join(folder, 'none'))).toEqual([]);
});
