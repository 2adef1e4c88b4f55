import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { docExamples, needsAgentSdk, writeExample } from '../../waybill/src/testing/doc-examples.ts';
import { answers, says } from '../src/testing/index.ts';
import { model } from './testing/agent.ts';

// Inside of this folder, so that the SDK is found.
const root = mkdtempSync(join(import.meta.dirname, '.docs-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const examples = docExamples().filter(needsAgentSdk);
/** Beside every example, because some import it. */
const imported = examples.filter(({ fileName }) => fileName !== undefined);

test('there are examples to run', () => {
  expect(examples.length).toBeGreaterThan(3);
});

describe('examples of docs/ that need the Claude Agent SDK', () => {
  test.for(examples)('$name runs as it stands there', async (example) => {
    const folder = mkdtempSync(join(root, 'one-'));
    for (const { fileName, code } of imported) writeFileSync(join(folder, fileName!), code);
    const file = writeExample(folder, example);
    // For the examples that ask the model of their reader; the others have one of their own.
    const asked = await model(({ tools }) =>
      tools.includes('StructuredOutput') ? answers({ summary: 'All is well.', files: 2 }) : says('All is well.'),
    );
    const env = { ...process.env, ...asked.env };
    const { stderr } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env, timeout: 90_000 });
    // What a run by hand tells of itself.
    expect(stderr.replaceAll(/^(begins session|says:|calls|StructuredOutput|has used) ?.*\n/gm, '')).toBe('');
  });
});
