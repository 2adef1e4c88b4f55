import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inputByHand } from './input-by-hand.ts';

async function folder(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'waybill-hand-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await mkdir(join(path, 'inputs'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

test('the argument comes before INPUT_FILE, and that before inputs/input.json', async () => {
  const cwd = await folder({ 'named.json': '{"from":"INPUT_FILE"}', 'inputs/input.json': '{"from":"the usual file"}' });
  const env = { INPUT_FILE: 'named.json' };
  expect(await inputByHand({ argument: '{"from":"argument"}', env, cwd })).toEqual({ from: 'argument' });
  expect(await inputByHand({ env, cwd })).toEqual({ from: 'INPUT_FILE' });
  expect(await inputByHand({ env: { INPUT_FILE: join(cwd, 'named.json') }, cwd: '/' })).toEqual({ from: 'INPUT_FILE' });
  expect(await inputByHand({ env: { INPUT_FILE: '' }, cwd })).toEqual({ from: 'the usual file' });
});

test('without any of them there is no input', async () => {
  expect(await inputByHand({ env: {}, cwd: await folder({}) })).toBeUndefined();
});

test('what is no JSON, or is not there, is refused by its name', async () => {
  const cwd = await folder({ 'bad.json': '{', 'inputs/input.json': 'x' });
  await expect(inputByHand({ argument: 'src', env: {}, cwd })).rejects.toThrow(/^The argument is no JSON/);
  await expect(inputByHand({ env: { INPUT_FILE: 'bad.json' }, cwd })).rejects.toThrow(
    "INPUT_FILE 'bad.json' is no JSON",
  );
  await expect(inputByHand({ env: { INPUT_FILE: 'none.json' }, cwd })).rejects.toThrow("INPUT_FILE names 'none.json'");
  await expect(inputByHand({ env: {}, cwd })).rejects.toThrow('inputs/input.json is no JSON');
});
