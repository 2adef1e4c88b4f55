import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { Terminal } from './testing/terminal.ts';

test('colour only at a terminal, and not where NO_COLOR is set; the text is the same', async () => {
  const one = new Terminal();
  await one.run('enqueue', 'a.b');
  await one.settle({ kind: 'completed', result: null });
  const plain = await one.text('jobs', 'list');
  expect(plain).toBe(stripVTControlCharacters(plain));
  one.isTty = true;
  const coloured = await one.text('jobs', 'list');
  expect(coloured).toContain('\u001b[32mcompleted\u001b[39m');
  expect(stripVTControlCharacters(coloured)).toBe(plain);
  one.env['NO_COLOR'] = '1';
  expect(await one.text('jobs', 'list')).toBe(plain);
});
