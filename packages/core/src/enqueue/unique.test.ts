import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fields } from '../check.ts';
import type { Json } from '../json.ts';
import { aJob } from '../testing/factories.ts';
import { canonicalJson } from './canonical-json.ts';
import { checkUnique, isInTheWay } from './unique.ts';

const job = {
  type: 'email.send',
  queue: 'mail',
  args: [{ user: 1, note: 'a' }, 'x'] as Json[],
  meta: { tenant: 't', trace: 'z' },
};

const ruleOf = (unique: Record<string, unknown>, overrides: Partial<typeof job> = {}) =>
  checkUnique(new Fields({ unique: unique as never }, 'options'), { ...job, ...overrides })!;

const keyOf = (unique: Record<string, unknown>, overrides: Partial<typeof job> = {}) => ruleOf(unique, overrides).key;

describe('the fingerprint', () => {
  test('tells types apart whatever the keys say', () => {
    expect(keyOf({ keys: ['queue'] })).not.toBe(keyOf({ keys: ['queue'] }, { type: 'sms.send' }));
    expect(keyOf({})).toBe(keyOf({ keys: ['type'] }, { queue: 'other', args: [] }));
  });

  test('counts only the named dimensions and paths', () => {
    const byUser = { keys: ['args'], args_keys: ['user'] };
    expect(keyOf(byUser)).toBe(keyOf(byUser, { args: [{ user: 1, note: 'b' }] }));
    expect(keyOf(byUser)).not.toBe(keyOf(byUser, { args: [{ user: 2, note: 'a' }] }));
    expect(keyOf({ keys: ['args'], args_keys: ['1'] })).toBe(
      keyOf({ keys: ['args'], args_keys: ['1'] }, { args: [0, 'x'] }),
    );
    expect(keyOf({ keys: ['args'], args_keys: ['0.user'] })).toBe(
      keyOf({ keys: ['args'], args_keys: ['0.user'] }, { args: [{ user: 1 }] }),
    );
    const byTenant = { keys: ['meta'], meta_keys: ['tenant'] };
    expect(keyOf(byTenant)).toBe(keyOf(byTenant, { meta: { tenant: 't', trace: 'other' } }));
  });

  test('C2: key names fields of the arguments, as most public clients send it', () => {
    const byUser = { key: ['user'] };
    expect(keyOf(byUser)).toBe(keyOf({ keys: ['args'], args_keys: ['user'] }));
    expect(keyOf(byUser)).toBe(keyOf(byUser, { args: [{ user: 1, note: 'b' }] }));
    expect(keyOf(byUser)).not.toBe(keyOf(byUser, { args: [{ user: 2, note: 'a' }] }));
    expect(keyOf({ key: [] })).toBe(keyOf({ keys: ['args'] }));
  });

  test('C2: key may name whole parts of a job, as the public Python client sends it', () => {
    expect(keyOf({ key: ['type', 'queue', 'args'] })).toBe(keyOf({ keys: ['type', 'queue', 'args'] }));
    expect(keyOf({ key: ['type'] })).toBe(keyOf({ keys: ['type'] }));
    expect(keyOf({ key: ['queue', 'user'] })).toBe(keyOf({ keys: ['queue', 'args'], args_keys: ['user'] }));
    expect(keyOf({ key: ['meta'], meta_keys: ['tenant'] })).toBe(keyOf({ keys: ['meta'], meta_keys: ['tenant'] }));
  });

  test('C2: a field of the arguments that is called like a part of the job is a field', () => {
    const typed = (type: string) => ({ args: [{ type, queue: 'q' }] as Json[] });
    expect(keyOf({ key: ['type'] }, typed('a'))).not.toBe(keyOf({ key: ['type'] }, typed('b')));
    const whole = { key: ['type', 'queue', 'args'] };
    expect(keyOf(whole, typed('a'))).not.toBe(keyOf(whole, { ...typed('a'), queue: 'other' }));
  });

  test('C3: a period may be a number of milliseconds', () => {
    expect(ruleOf({ period_ms: 1_500 }).periodMs).toBe(1_500);
    expect(ruleOf({ period_ms: 1_500, period: 'PT1.5S' }).periodMs).toBe(1_500);
  });

  test('does not depend on the order of keys or on how letters are composed', () => {
    const args: Json[] = [{ b: 1, a: { d: 'e\u0301', c: [2] } }];
    const same: Json[] = [{ a: { c: [2], d: '\u00e9' }, b: 1 }];
    expect(keyOf({ keys: ['args'] }, { args })).toBe(keyOf({ keys: ['args'] }, { args: same }));
  });

  test('canonical JSON reads back as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Json;
        const again = JSON.parse(canonicalJson(plain)) as Json;
        expect(canonicalJson(again)).toBe(canonicalJson(plain));
      }),
    );
  });
});

describe('refuses', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown dimension', { keys: ['argz'] }, 'options.unique.keys'],
    ['meta without keys', { keys: ['meta'] }, 'options.unique.meta_keys'],
    ['a path that the job does not have', { keys: ['args'], args_keys: ['nobody'] }, 'options.unique.args_keys'],
    ['a path of a kilobyte', { keys: ['args'], args_keys: ['k'.repeat(1_025)] }, 'options.unique.args_keys'],
    ['a prototype path', { keys: ['args'], args_keys: ['constructor'] }, 'options.unique.args_keys'],
    ['a hundred years', { period: 'P36500D' }, 'options.unique.period'],
    ['no time at all', { period: 'PT0S' }, 'options.unique.period'],
    ['an unknown state', { states: ['sleeping'] }, 'options.unique.states'],
    ['no state', { states: [] }, 'options.unique.states'],
    ['an unknown action', { on_conflict: 'shrug' }, 'options.unique.on_conflict'],
    ['C2: a key that the job does not have', { key: ['to'] }, 'options.unique.key'],
    ['C2: a key that is no list', { key: 'user' }, 'options.unique.key'],
    ['C2: both names of one thing', { key: ['user'], keys: ['args'] }, 'options.unique.key'],
    ['C2: an unknown field', { fields: ['user'] }, 'options.unique.fields'],
    ['C3: two periods', { period: 'PT1S', period_ms: 2_000 }, 'options.unique.period_ms'],
    ['C3: no milliseconds at all', { period_ms: 0 }, 'options.unique.period'],
  ])('%s', (_, unique, field) => {
    expect(() => ruleOf(unique)).toThrow(
      expect.objectContaining({ code: 'invalid_request', details: expect.objectContaining({ field }) }),
    );
  });
});

test('the owner is in the way while its state and age say so', () => {
  const { job: owner } = aJob({ createdAt: 1_000 });
  const rule = ruleOf({ period: 'PT2S' });
  expect(isInTheWay(owner, rule, 2_999)).toBe(true);
  expect(isInTheWay(owner, rule, 3_000)).toBe(false);
  expect(isInTheWay({ ...owner, state: 'completed' }, ruleOf({}), 2_000)).toBe(false);
  expect(isInTheWay({ ...owner, state: 'completed' }, ruleOf({ states: ['completed'] }), 2_000)).toBe(true);
});
