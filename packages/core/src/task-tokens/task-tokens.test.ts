import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { WaybillError } from '../errors.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Waybill } from '../waybill.ts';
import { withSignedLeases } from './signed-leases.ts';
import { configuredTokenKeys, type TokenKeySource, tokenKeyStore } from './token-keys.ts';
import { TokenSigner } from './token-signer.ts';

const SECRET = 'a secret of more than thirty-two bytes';
const OTHER = 'another secret with enough bytes in it';
const FACTS = { tenant: 'acme', jobId: 'job-1', queue: 'default', lease: '1.claim.receipt/with+signs==' };
const INVALID = { code: 'invalid_request', details: { field: 'lease_token' } };

const DONE = { kind: 'completed', result: null } as const;

const signerOf = (source: TokenKeySource, clock = new TestClock()) => new TokenSigner(source, clock);

async function served(source?: TokenKeySource) {
  const made = testEngine();
  const keys = source ?? made.waybill.keys.taskTokens!;
  const port: Waybill = withSignedLeases(made.waybill, new TokenSigner(keys, made.clock));
  const claimOne = async () => (await port.jobs.claim({ queues: ['default'], workerId: 'w1' }))[0]!;
  return { ...made, port, claimOne };
}

describe('a signed token', () => {
  it('is the same for the same lease, and any server with the key opens it', async () => {
    const [one, two] = [signerOf(configuredTokenKeys(SECRET)), signerOf(configuredTokenKeys(SECRET))];
    const token = await one.seal(FACTS);
    expect(await two.seal(FACTS)).toBe(token);
    expect(await two.open(token, FACTS)).toEqual(FACTS);
    expect(token).not.toContain(FACTS.lease);
  });

  it('is refused for another job, queue, tenant or key', async () => {
    const signer = signerOf(configuredTokenKeys(SECRET));
    const token = await signer.seal(FACTS);
    await expect(signer.open(token, { ...FACTS, jobId: 'job-2' })).rejects.toMatchObject(INVALID);
    await expect(signer.open(token, { ...FACTS, queue: 'other' })).rejects.toMatchObject(INVALID);
    await expect(signer.open(token, { ...FACTS, tenant: 'rival' })).rejects.toMatchObject(INVALID);
    await expect(signerOf(configuredTokenKeys(OTHER)).open(token, FACTS)).rejects.toMatchObject(INVALID);
  });

  it('is refused when any of its bits was changed', async () => {
    const signer = signerOf(configuredTokenKeys(SECRET));
    const token = await signer.seal(FACTS);
    for (let place = 0; place < token.length; place++) {
      const changed = String.fromCharCode(token.charCodeAt(place) ^ 1);
      const altered = token.slice(0, place) + changed + token.slice(place + 1);
      await expect(signer.open(altered, FACTS)).rejects.toMatchObject(INVALID);
    }
  });

  // 100,000 in all: texts of any kind, texts that look like tokens, and tokens with a part replaced.
  test('100,000 texts that nobody signed end in one clean error', async () => {
    const signer = signerOf(configuredTokenKeys(SECRET));
    const token = await signer.seal(FACTS);
    const part = fc.stringMatching(/^[A-Za-z0-9_.-]{0,60}$/);
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      part.map((middle) => `wt1.${middle}`),
      fc.tuple(fc.nat(token.length), part).map(([at, middle]) => token.slice(0, at) + middle + token.slice(at + 1)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1_000, maxLength: 1_000, size: 'max' }), async (texts) => {
        const answers = await Promise.allSettled(texts.map((one) => signer.open(one, FACTS)));
        const wrong = answers.filter(
          (answer, index) =>
            texts[index] !== token && !(answer.status === 'rejected' && answer.reason.code === 'invalid_request'),
        );
        expect(wrong).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('keys of tokens', () => {
  it('takes two secrets while they are changed, and signs with the first', async () => {
    const before = await signerOf(configuredTokenKeys(SECRET)).seal(FACTS);
    const both = signerOf(configuredTokenKeys(`${OTHER}, ${SECRET}`));
    expect(await both.open(before, FACTS)).toEqual(FACTS);
    expect(await signerOf(configuredTokenKeys(OTHER)).open(await both.seal(FACTS), FACTS)).toEqual(FACTS);
  });

  test.each(['short', `${SECRET},short`, `${SECRET},${SECRET},${OTHER}`, ''])('refuses the secret %j', (text) => {
    expect(() => configuredTokenKeys(text)).toThrow(/tokenSecret/);
  });

  // fault: ten servers start at the same moment on an empty store
  it('are made once, whichever server asks first', async () => {
    const clock = new TestClock();
    const { records } = memoryStore({ clock });
    const signers = Array.from({ length: 10 }, () => signerOf(tokenKeyStore(records, clock), clock));
    const tokens = await Promise.all(signers.map((signer) => signer.seal(FACTS)));
    expect(new Set(tokens).size).toBe(1);
  });

  it('are rotated under running servers: the old key counts until the next rotation', async () => {
    const clock = new TestClock();
    const { records } = memoryStore({ clock });
    const keys = tokenKeyStore(records, clock);
    const [one, two] = [signerOf(keys, clock), signerOf(keys, clock)];
    const oldest = await one.seal(FACTS);
    await two.seal(FACTS);
    const { nextFrom } = await keys.rotate();
    await clock.advance(2_000);
    // The clock of this server is ahead, so it signs with the new key too early.
    const ahead = new TestClock();
    ahead.jump(180_000);
    const next = await signerOf(keys, ahead).seal(FACTS);
    expect(next).not.toBe(oldest);
    // A server that has not heard of the rotation looks for the key that it does not know.
    expect(await two.open(next, FACTS)).toEqual(FACTS);
    expect(await two.open(oldest, FACTS)).toEqual(FACTS);
    await clock.advance(nextFrom - clock.now());
    await keys.rotate();
    await clock.advance(61_000);
    await expect(one.open(oldest, FACTS)).rejects.toMatchObject(INVALID);
    expect(await one.open(next, FACTS)).toEqual(FACTS);
  });
});

describe('a port with signed leases', () => {
  it('settles, reports, appends and extends with the token that the claim answered', async () => {
    const { port, enqueue, claimOne } = await served();
    const id = await enqueue();
    const { token: leaseToken } = await claimOne();
    expect(leaseToken).toMatch(/^wt1\./);
    await port.jobs.report({ id, leaseToken, fraction: 0.5 });
    await port.jobs.append({ id, leaseToken, entries: [{ sequence: 1, type: 'metric' }] });
    const beat = await port.jobs.heartbeat({ workerId: 'w1', jobs: [{ id, leaseToken }] });
    expect(beat).toMatchObject({ extended: [{ id }], lost: [] });
    const job = await port.jobs.settle({ id, leaseToken, outcome: { kind: 'completed', result: 1 } });
    expect(job.state).toBe('completed');
  });

  // fault: tokens that are unsigned, altered, or of another job
  it('guarantee 3: a token that was not signed for this job changes nothing', async () => {
    const { waybill, port, enqueue, claimOne } = await served();
    const [first, second] = [await enqueue(), await enqueue()];
    const [one, two] = [await claimOne(), await claimOne()];
    const bare = `1.${one.job.claimId}`;
    const altered = `${one.token.slice(0, -1)}${one.token.endsWith('A') ? 'B' : 'A'}`;
    for (const leaseToken of [bare, altered, two.token, randomBytes(40).toString('base64url'), '']) {
      const held = { id: first, leaseToken };
      const outcome = { kind: 'completed', result: null } as const;
      await expect(port.jobs.settle({ ...held, outcome })).rejects.toMatchObject(INVALID);
      await expect(port.jobs.report({ ...held, fraction: 1 })).rejects.toMatchObject(INVALID);
      const entries = [{ sequence: 1, type: 'metric' }];
      await expect(port.jobs.append({ ...held, entries })).rejects.toMatchObject(INVALID);
      const beat = await port.jobs.heartbeat({ workerId: 'w1', jobs: [held, { id: second, leaseToken: two.token }] });
      expect(beat).toMatchObject({ extended: [{ id: second }], lost: [first] });
    }
    expect(await waybill.jobs.get(first)).toMatchObject({ state: 'active', run: 1 });
    expect((await waybill.jobs.journal(first)).entries).toEqual([]);
  });

  // fault: a caller names another queue than the one that its token was signed for
  it('guarantee 3: a token of another queue changes nothing, and a strict heartbeat refuses it', async () => {
    const { waybill, port, store, enqueue, claimOne } = await served();
    const id = await enqueue();
    const { token: leaseToken } = await claimOne();
    const before = await waybill.jobs.get(id);
    const held = { id, leaseToken, queue: 'other' };
    await expect(port.jobs.settle({ ...held, outcome: DONE })).rejects.toMatchObject(INVALID);
    await expect(port.jobs.report({ ...held, fraction: 1 })).rejects.toMatchObject(INVALID);
    await expect(port.jobs.append({ ...held, entries: [{ sequence: 1, type: 'a' }] })).rejects.toMatchObject(INVALID);
    expect(await port.jobs.heartbeat({ workerId: 'w1', jobs: [held] })).toMatchObject({ extended: [], lost: [id] });
    const strict = { workerId: 'w1', strict: true };
    await expect(port.jobs.heartbeat({ ...strict, jobs: [held] })).rejects.toMatchObject(INVALID);
    expect(await waybill.jobs.get(id)).toEqual(before);
    const right = { id, leaseToken, queue: 'default' };
    expect(await port.jobs.heartbeat({ ...strict, jobs: [right] })).toMatchObject({ extended: [{ id }] });
    const reads = store.calls('get');
    expect(await port.jobs.settle({ ...right, outcome: DONE })).toMatchObject({ state: 'completed' });
    expect(store.calls('get')).toBe(reads);
  });

  // fault: a caller without signed tokens names another queue
  it('guarantee 3: without signatures the row tells that a token is of another queue', async () => {
    const { waybill, store, enqueue, claimOne } = testEngine();
    const id = await enqueue();
    const { token: leaseToken } = await claimOne();
    const settle = (queue: string) => waybill.jobs.settle({ id, leaseToken, queue, outcome: DONE });
    await expect(settle('other')).rejects.toMatchObject(INVALID);
    expect(await settle('default')).toMatchObject({ state: 'completed' });
    // The process that has claimed the job knows its queue.
    expect(store.calls('get')).toBe(0);
    for (const [queue, code] of [
      ['other', 'invalid_request'],
      ['default', 'lease_lost'],
    ]) {
      const late = { id, leaseToken, ...(queue !== undefined && { queue }) };
      await expect(waybill.jobs.report({ ...late, fraction: 1 })).rejects.toMatchObject({ code });
      const entries = [{ sequence: 1, type: 'a' }];
      await expect(waybill.jobs.append({ ...late, entries })).rejects.toMatchObject({ code });
    }
  });

  // fault: the lease runs out, and the next run is claimed
  it('guarantee 3: a genuine token of an earlier run is a lost lease', async () => {
    const { port, clock, waybill, enqueue, claimOne } = await served();
    const id = await enqueue({ retry: { max_attempts: 3 } });
    const { token: leaseToken } = await claimOne();
    await clock.advance(400_000);
    await expect.poll(async () => (await waybill.jobs.get(id)).state).toBe('available');
    await claimOne();
    const late = port.jobs.settle({ id, leaseToken, outcome: { kind: 'completed', result: null } });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await waybill.jobs.get(id)).toMatchObject({ state: 'active', run: 2 });
  });
});

describe('a server whose signing key is not at hand', () => {
  const away = new WaybillError('unavailable', 'The store is away.');

  // fault: the store answers all calls but the one for the key
  it('hands out no token, and takes no job', async () => {
    const { waybill, port, enqueue } = await served({ read: () => Promise.reject(away) });
    const id = await enqueue();
    await expect(port.jobs.claim({ queues: ['default'] })).rejects.toMatchObject({ code: 'unavailable' });
    expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available', run: 0 });
  });

  // fault: the key gets too old while a claim waits for a job, and cannot be read again
  it('gives back what it has claimed', async () => {
    let isAway = false;
    const keys = configuredTokenKeys(SECRET);
    const { waybill, enqueue, clock } = testEngine();
    const { claim } = waybill.jobs;
    waybill.jobs.claim = async (call) => {
      const leases = await claim(call);
      isAway = true;
      clock.jump(61_000);
      return leases;
    };
    const signed = withSignedLeases(
      waybill,
      new TokenSigner({ read: () => (isAway ? Promise.reject(away) : keys.read()) }, clock),
    );
    const id = await enqueue();
    await expect(signed.jobs.claim({ queues: ['default'] })).rejects.toMatchObject({ code: 'unavailable' });
    expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available', outcome: 'requeued', attempt: 0 });
  });
});
