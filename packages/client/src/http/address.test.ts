import { expect, test } from 'vitest';
import { baseOf, path, queryOf } from './address.ts';

test('an address may have a path, and is refused when it cannot be called', () => {
  expect(baseOf('http://localhost:8080')).toBe('http://localhost:8080');
  expect(baseOf('https://example.com/jobs/?x=1#y')).toBe('https://example.com/jobs');
  for (const bad of ['', 'localhost:8080', 'sqlite:./x.db', 'ftp://example.com', 'http://ada:secret@example.com'])
    expect(() => baseOf(bad)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  expect(() => baseOf('http://ada:secret@example.com')).not.toThrow(/secret/);
});

test('names cannot leave their place in a path', () => {
  expect(path`/a/${'x/../y?z#%'}/b`).toBe('/a/x%2F..%2Fy%3Fz%23%25/b');
  for (const bad of ['', '.', '..'])
    expect(() => path`/a/${bad}`).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});

test('what is not given is not asked; an empty list is', () => {
  expect(queryOf({ a: undefined })).toBe('');
  expect(queryOf({ a: undefined, b: [], c: ['x', 'y'], d: 0, e: false })).toBe('?b=&c=x%2Cy&d=0&e=false');
});
