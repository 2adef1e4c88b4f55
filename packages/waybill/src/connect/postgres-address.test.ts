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
