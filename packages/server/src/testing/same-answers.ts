import { jobFromWire, jobToWire } from '@waybill/client';
import { inTenant, type Job, type JobRequest, type Waybill } from '@waybill/core';
import { jobIdAt, TEST_EPOCH } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { remoteHarness } from './remote-harness.ts';

export type Answers = Record<string, unknown>;
export type Scenario = (waybill: Waybill, pass: (ms: number) => Promise<void>) => Promise<Answers>;

export const job = (n: number, over: Partial<JobRequest> = {}): JobRequest => ({
  type: 'test.job',
  args: [n],
  id: jobIdAt(TEST_EPOCH, n),
  ...over,
});
export const claim = { queues: ['default'], workerId: 'w1', leaseMs: 1_000, claimId: 'claim-first' };
export const failure = {
  ...{ code: 'smtp_down', message: 'no', type: 'SmtpError', retryable: true, retryAfterMs: 90_000 },
  details: { host: 'mail' },
};

/** What a refusal comes to, on either side. */
export async function refusal(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => undefined,
    (reason: Record<string, unknown>) => reason,
  );
  const { name, code, message, details, retryable } = error ?? {};
  return { name, code, message, details, retryable };
}

/** For refusals that either side finds out for itself, in its own words. */
export const codeOf = async (call: () => Promise<unknown>): Promise<unknown> =>
  ((await refusal((async () => call())())) as { code: unknown }).code;

const isJob = (value: object): value is Job => 'spec' in value && 'maxAttempts' in value;

/** The wire does not carry everything: what it leaves out is left out on both sides, and ids of workflows are new. */
function carried(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(carried);
  if (isJob(value)) return { ...jobFromWire(jobToWire(value), value.tenant), workflowId: value.workflowId && 'some' };
  const {
    callbacks: _callbacks,
    lastJobId: _lastJobId,
    version: _version,
    hint: _hint,
    skips: _skips,
    ...rest
  } = value as Answers;
  return Object.fromEntries(Object.entries(rest).map(([name, item]) => [name, carried(item)]));
}

/** Holds the remote client to what the embedded engine answers. */
export function expectSameAnswers(scenarios: Record<string, Scenario>): void {
  describe.each(['', 'acme'])(
    'the remote client answers what the embedded engine answers, for the tenant "%s"',
    (tenant) => {
      test.each(Object.entries(scenarios))('%s', async (_what, scenario) => {
        const [here, there] = [remoteHarness(), remoteHarness({}, { tenant })];
        const embedded = await scenario(inTenant(here.waybill, tenant), (ms) => here.clock.advance(ms));
        const answered = await scenario(there.client, (ms) => there.clock.advance(ms));
        expect(Object.keys(answered)).toEqual(Object.keys(embedded));
        for (const name of Object.keys(embedded))
          expect({ [name]: carried(answered[name]) }).toEqual({ [name]: carried(embedded[name]) });
      });
    },
  );
}
