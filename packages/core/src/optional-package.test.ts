import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadOptional } from './optional-package.ts';

/** A module with this text, imported as an optional package called `driver`. */
async function failureOf(text: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-optional-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'main.mjs');
  writeFileSync(file, text);
  return loadOptional(
    { name: 'waybill-driver', needs: 'The store needs' },
    () => import(/* @vite-ignore */ pathToFileURL(file).href),
  ).catch((error: unknown) => error);
}

test('D8: a package that is not installed is named, with what to do', async () => {
  expect(await failureOf("import 'waybill-driver';")).toMatchObject({
    code: 'unsupported',
    message: "The store needs the package 'waybill-driver', which is not installed.",
    hint: 'npm install waybill-driver',
  });
});

test('D8: what else keeps a package from loading is told, and not that it is not installed', async () => {
  expect(await failureOf("throw new Error('The binding is for another system.');")).toMatchObject({
    message:
      "The store needs the package 'waybill-driver', which could not be loaded: The binding is for another system.",
  });
  const another = (await failureOf("import 'waybill-driver-types';")) as Error;
  expect(another.message).toContain("which could not be loaded: Cannot find package 'waybill-driver-types'");
});

test('D8: a bundle without require says what to do about it', async () => {
  expect(await failureOf(`throw new Error('Dynamic require of "net" is not supported');`)).toMatchObject({
    message: expect.stringContaining('Dynamic require of "net" is not supported'),
    hint: 'Bundle as CommonJS, or define require in a banner by createRequire of node:module.',
  });
});
