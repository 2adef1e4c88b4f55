import { expect, test } from 'vitest';
import { postgresOptions } from './postgres-address.ts';

test('what Waybill reads comes out of the address, the rest is for the driver', () => {
  const listen = encodeURIComponent('postgres://u:p@direct:5432/db');
  expect(
    postgresOptions(`postgres://u:p%40ss@h:6432/db?schema=jobs&pool=4&sslmode=require&listen_url=${listen}`),
  ).toEqual({
    url: 'postgres://u:p%40ss@h:6432/db?sslmode=require',
    schema: 'jobs',
    poolSize: 4,
    listenUrl: 'postgres://u:p@direct:5432/db',
  });
  expect(postgresOptions('postgres://h/db')).toEqual({ url: 'postgres://h/db' });
});

test('a wrong address is refused without its secrets', () => {
  const refusal = (address: string) => {
    try {
      return postgresOptions(address);
    } catch (error) {
      return error;
    }
  };
  expect(refusal('postgres://u:s3cret@h/db?pool=none')).toMatchObject({ code: 'invalid_request' });
  const bad = refusal('postgres://u:s3cret@:nowhere');
  expect(bad).toMatchObject({ code: 'invalid_request' });
  expect(String(bad)).not.toContain('s3cret');
});

test.each([
  'keepalives_interval=10',
  'sslcrl=x&max=5',
  'supa=base-pooler.x&pgbouncer=true',
  'options=-c%20search_path%3Dx',
])('D3: the parameters ?%s go to the driver as they are', (query) => {
  expect(postgresOptions(`postgres://h/db?${query}&schema=jobs`)).toEqual({
    url: expect.stringContaining(query.split('&')[0]!.split('=')[0]!),
    schema: 'jobs',
  });
  const { url } = postgresOptions(`postgres://h/db?${query}`);
  expect([...new URL(url!).searchParams]).toEqual([...new URLSearchParams(query)]);
});

test.each([
  ['schem', 'schema'],
  ['Schema', 'schema'],
  ['pol', 'pool'],
  ['listenurl', 'listen_url'],
])('D3: ?%s= is refused as a near miss of ?%s=', (typed, meant) => {
  expect(() => postgresOptions(`postgres://h/db?${typed}=x`)).toThrow(`Did you mean '${meant}'?`);
});

test('D3: a socket may stand in the parameter host, as Cloud SQL has it', () => {
  const { url } = postgresOptions('postgres://u:p@/db?host=/cloudsql/x');
  expect(new URL(url!).searchParams.get('host')).toBe('/cloudsql/x');
});
