import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promptValue, sanitizePromptInput } from './prompt-input.ts';

interface Case {
  about: string;
  text: string;
  gives: string;
}

const corpus: Case[] = JSON.parse(readFileSync(new URL('./prompt-input.corpus.json', import.meta.url), 'utf8'));

test.each(corpus)('$about', ({ text, gives }) => {
  expect(sanitizePromptInput(text)).toBe(gives);
});

test('a text is cut where it is too long, and says so', () => {
  expect(sanitizePromptInput('abcdef', { maxLength: 4 })).toBe('abcd\n[2 more characters were cut]');
});

test('a value of any kind is written as JSON, with its texts sanitized', () => {
  expect(promptValue({ a: '<script>x</script>y', b: [1, null] })).toBe(
    '{\n  "a": "y",\n  "b": [\n    1,\n    null\n  ]\n}',
  );
  expect(promptValue(7)).toBe('7');
  expect(promptValue('{{x}}')).toBe('{ {x} }');
});

const pieces = fc.constantFrom(
  ...[
    '<',
    '>',
    '/',
    'script',
    '<script',
    '</script>',
    'java',
    'script:',
    'javascript:',
    'on',
    'click',
    'onclick=',
    '=',
  ],
  ...['{{', '}}', '{%', ' ', '\n', '\u0000', '\u202e', 'x', '"'],
);

test('whatever the parts, none of what is looked for is left, and a second time changes nothing', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const clean = sanitizePromptInput(parts.join(''));
      expect(clean).not.toMatch(/<\s*\/?\s*script\b|javascript:|\bonclick\s*=|\{\{|\}\}|\{%|[\0\u202e]/i);
      expect(sanitizePromptInput(clean)).toBe(clean);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '<script'.repeat(20_000),
  '<script>'.repeat(12_000),
  'java '.repeat(20_000),
  'on'.repeat(50_000),
  '< '.repeat(50_000),
])('a text made to take long takes no time', (text) => {
  const before = performance.now();
  sanitizePromptInput(text);
  expect(performance.now() - before).toBeLessThan(5_000);
});
