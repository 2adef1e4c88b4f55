import { readFileSync } from 'node:fs';
import { ERROR_TABLE } from '@waybill/client';
import { expect, test } from 'vitest';
import { COMMANDS } from './commands/index.ts';

test('docs/command.md has every command and every exit code', () => {
  const page = readFileSync(new URL('../../../../docs/command.md', import.meta.url), 'utf8');
  const wanted = [
    ...COMMANDS.map(({ name }) => `waybill ${name}`),
    ...Object.entries(ERROR_TABLE).map(([code, { exitCode }]) => `| ${exitCode} | \`${code}\` |`),
  ];
  expect(wanted.filter((text) => !page.includes(text))).toEqual([]);
});
