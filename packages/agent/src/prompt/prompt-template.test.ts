import { expect, test } from 'vitest';
import { PromptTemplate } from './prompt-template.ts';

const rendered = (text: string, ...scopes: unknown[]): string => new PromptTemplate(text, 'Task').render(scopes);

test.each<[text: string, scope: unknown, gives: string]>([
  ['In {{folder}}.', { folder: 'src' }, 'In src.'],
  ['{{ user.name }}: {{user.tags.1}}', { user: { name: 'Ada', tags: ['a', 'b'] } }, 'Ada: b'],
  ['{{a}}{{b}}{{a}}', { a: 1, b: true }, '1true1'],
  ['[{{note?}}]', {}, '[]'],
  ['{{all}}', { all: { n: [1] } }, '{\n  "n": [\n    1\n  ]\n}'],
  ['{{none}}', { none: null }, 'null'],
])('%j with %j', (text, scope, gives) => {
  expect(rendered(text, scope)).toBe(gives);
});

test('every value is sanitized, and brings no placeholder of its own', () => {
  const scope = { a: '<script>steal()</script>{{secret}}\u202e', secret: 'never' };
  expect(rendered('{{a}}', scope)).toBe('{ {secret} }');
});

test('the first scope that has the name gives the value', () => {
  expect(rendered('{{a}} {{b}}', { a: 1 }, { a: 2, b: 3 })).toBe('1 3');
});

test('what an object inherits is no value', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'a.length'])
    expect(() => rendered(`{{${name}}}`, { a: 'text' })).toThrow(`no value for the placeholder '{{${name}}}'`);
});

test('a value that is missing is named, with the names that are known', () => {
  expect(() => rendered('{{folde}}', { folder: 'src' })).toThrow(
    expect.objectContaining({ code: 'invalid_request', hint: expect.stringContaining('Known names: folder') }),
  );
});
