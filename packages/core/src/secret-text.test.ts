import { expect, test } from 'vitest';
import { newSecret } from './access/keys/key-secret.ts';
import { withoutSecrets } from './secret-text.ts';

const KEY = newSecret('abcdefghijkm');
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLXBsYW50ZWQ';

test.each([
  [`no key ${KEY}.`, 'no key wb_abcdefghijkm_***.'],
  [`'${KEY}'`, "'wb_abcdefghijkm_***'"],
  ['signed by whsec_c2VjcmV0LXBsYW50ZWQ=', 'signed by whsec_***'],
  [`token ${JWT} is over`, 'token *** is over'],
  ['cannot reach postgres://ada:p@ss@db:5432/jobs', 'cannot reach postgres://***@db:5432/jobs'],
  ['at https://AKIAABCDEFGHIJKLMNOP:s3cret@localhost:4566/', 'at https://***@localhost:4566/'],
  ['two: http://a:b@one/ and http://c:d@two/', 'two: http://***@one/ and http://***@two/'],
  ['Authorization: Bearer abcdef.ghi', 'Authorization: ***'],
  ['sent Bearer abcdefghi to it', 'sent Bearer *** to it'],
  ['sent Basic YWRhOnBhc3M= to it', 'sent Basic *** to it'],
  ['{"authorization":"Basic YWRhOnBhc3M="}', '{"authorization":"***"}'],
  ['Cookie: waybill_session=abc; theme=dark', 'Cookie: ***'],
  [
    'GET https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA%2F1&X-Amz-Signature=abc123&x=1',
    'GET https://b.s3.amazonaws.com/k?X-Amz-Credential=***&X-Amz-Signature=***&x=1',
  ],
  ['PGPASSWORD=hunter2 waybill serve', 'PGPASSWORD=*** waybill serve'],
  ['AWS_SECRET_ACCESS_KEY=abc/def+1 x', 'AWS_SECRET_ACCESS_KEY=*** x'],
  ['WAYBILL_KEY=my-own-secret-of-24-letters', 'WAYBILL_KEY=***'],
  ['sent bearer abcdef1234 to it', 'sent bearer *** to it'],
  ['host=db password=hunter2 user=ada', 'host=db password=*** user=ada'],
  ['{"password":"hunter2","user":"ada"}', '{"password":"***","user":"ada"}'],
])('%s', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown);
});

test.each([
  'Use an address like postgres://user:password@host:5432/database.',
  ...['', 'No worker w1 was ever seen.', "'tenant' must name one tenant.", 'https://example.com/a?x=1 answered 500'],
  ...['key=api is a limit'.replace('key=', 'the key '), '12:30:01 started', 'Basic checks passed', 'mail@example.com'],
  ...['Send Authorization: Bearer KEY, or x-api-key: KEY.', 'The Bearer is unknown.'],
])('leaves %j as it is', (text) => {
  expect(withoutSecrets(text)).toBe(text);
});

test('also in JSON, which stays JSON', () => {
  const text = [
    `a ${KEY}`,
    JWT,
    'Cookie: session=abcdef; a="b"',
    'password=hunter2',
    'Bearer abcdefgh',
    '{"token":"s3cret"}',
  ];
  const shown = withoutSecrets(JSON.stringify({ message: text.join('\n'), err: { stack: text.join('\n\t') } }));
  expect(JSON.parse(shown).message.split('\n')).toEqual([
    ...['a wb_abcdefghijkm_***', '***', 'Cookie: ***"b"', 'password=***', 'Bearer ***', '{"token":"***"}'],
  ]);
  expect(shown).not.toMatch(/s3cret|hunter2|abcdefgh\b|c2lnbmF0dXJl/);
});

test('a text of any kind takes no time', () => {
  const begun = performance.now();
  for (const part of ['a.', '://', 'a://b:', 'eyJ', 'Bearer ', 'cookie:', 'wb_', '\\n', 'authorization: '])
    withoutSecrets(part.repeat(50_000 / part.length));
  expect(performance.now() - begun).toBeLessThan(5_000);
});
