import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyWebhook } from './verify-webhook.ts';

/** The example that the libraries of Standard Webhooks test themselves with. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"test": 2432232314}';
const AT = 1_614_265_330;
const NOW = AT * 1_000;
const HEADERS = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': String(AT),
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

/** Computed here by the text of the specification. */
function signed(body: string, { at = AT, secret = SECRET, id = 'evt_1' } = {}) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` };
}

test.each([
  ['headers of node:http', HEADERS, BODY],
  ['headers of fetch', new Headers(HEADERS), BODY],
  ['names in any case', Object.fromEntries(Object.entries(HEADERS).map(([k, v]) => [k.toUpperCase(), v])), BODY],
  ['bytes', HEADERS, Buffer.from(BODY)],
  ['a second signature', { ...HEADERS, 'webhook-signature': `v1,AAAA ${HEADERS['webhook-signature']}` }, BODY],
  ['another version beside it', { ...HEADERS, 'webhook-signature': `${HEADERS['webhook-signature']} v1a,x` }, BODY],
])('takes what Standard Webhooks signs, with %s', (_, headers, body) => {
  expect(verifyWebhook(headers, body, SECRET, { now: NOW })).toEqual({ test: 2432232314 });
});

test('text beyond ASCII is signed as UTF-8', () => {
  const body = JSON.stringify({ type: 'job.completed', data: { name: 'Grüße 漢字🎉' } });
  expect(verifyWebhook(signed(body), body, SECRET, { now: NOW }).type).toBe('job.completed');
  expect(verifyWebhook(signed(body), Buffer.from(body), SECRET, { now: NOW }).type).toBe('job.completed');
});

const CHANGED: [string, Partial<typeof HEADERS>, string][] = [
  ['another body', {}, '{"test":2432232314}'],
  ['another id', { 'webhook-id': 'msg_other' }, BODY],
  ['another time', { 'webhook-timestamp': String(AT + 1) }, BODY],
  ['a signature of another version', { 'webhook-signature': HEADERS['webhook-signature'].replace('v1', 'v2') }, BODY],
  ['a shorter signature', { 'webhook-signature': 'v1,g0hM9SsE' }, BODY],
  ['a signature that is none', { 'webhook-signature': 'nonsense' }, BODY],
  ['an empty signature', { 'webhook-signature': '' }, BODY],
  ['no timestamp', { 'webhook-timestamp': undefined as never }, BODY],
];

test.each(CHANGED)('refuses %s', (_, headers, body) => {
  const call = () => verifyWebhook({ ...HEADERS, ...headers }, body, SECRET, { now: NOW });
  expect(call).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
});

test('refuses what another secret has signed', () => {
  const headers = signed(BODY, { secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` });
  expect(() => verifyWebhook(headers, BODY, SECRET, { now: NOW })).toThrow('No signature');
});

test('five minutes are tolerated either way, and not a second more', () => {
  const verifiedAt = (now: number, toleranceMs?: number) =>
    verifyWebhook(HEADERS, BODY, SECRET, { now, ...(toleranceMs !== undefined && { toleranceMs }) });
  for (const now of [NOW - 300_000, NOW + 300_000]) expect(verifiedAt(now)).toBeTruthy();
  for (const now of [NOW - 301_000, NOW + 301_000]) expect(() => verifiedAt(now)).toThrow('too far from now');
  expect(() => verifiedAt(NOW + 2_000, 1_000)).toThrow('too far from now');
  expect(() => verifyWebhook(HEADERS, BODY, SECRET)).toThrow('too far from now');
});

test('a timestamp that is no number of seconds is refused although it is signed', () => {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`evt_1.soon.${BODY}`).digest('base64');
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': 'soon', 'webhook-signature': `v1,${signature}` };
  expect(() => verifyWebhook(headers, BODY, SECRET, { now: NOW })).toThrow('too far from now');
});

test('mistakes of the caller are told without the secret', () => {
  expect(() => verifyWebhook(HEADERS, BODY, 'hunter2')).toThrow(
    expect.objectContaining({ code: 'invalid_request', message: expect.not.stringContaining('hunter2') }),
  );
  expect(() => verifyWebhook(HEADERS, { test: 1 } as never, SECRET)).toThrow('as it was received');
});
