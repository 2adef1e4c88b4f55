import { jobToWire } from '@waybill/client';
import { type Job, keyIdIn, lastError, systemClock, WaybillError } from '@waybill/core';
import { Waits } from '../../sdk/wait.ts';
import { command, misuse } from '../command.ts';
import { INTERRUPTED } from '../exit.ts';
import { REQUEST_OPTIONS, readRequest } from '../job-request.ts';
import { readSpan } from '../read-value.ts';
import { oneLine } from '../text-width.ts';

export const enqueue = command({
  name: 'enqueue',
  section: 'Jobs',
  summary: 'enqueue a job; each argument is one JSON value',
  args: 'TYPE [ARGS-JSON…]',
  options: {
    ...REQUEST_OPTIONS,
    delay: { value: 'SPAN', about: 'start it no earlier than in 30s, 5m, PT5M, ..' },
    id: { value: 'UUID', about: 'id of the job, a UUIDv7', default: 'a new one' },
    'idempotency-key': { value: 'TEXT', about: 'a second call with it answers the first job' },
    wait: { about: 'wait until the job has finished and print its result; exit 1 unless it completed' },
    timeout: { value: 'SPAN', about: 'how long to wait', default: 'until Ctrl-C' },
  },
  notes: `The job is durable when this answers. It is a plain job: what a task says in its code (queue, retries, timeout) does not
hold for it, and must be given by options. Texts are JSON too:

  waybill enqueue email.send '"ada@example.com"'

What begins with a dash goes behind --:

  waybill enqueue math.add -- -1 2`,
  run: async ({ args: [type = '', ...args], values }, context) => {
    const { delay, id, 'idempotency-key': key, timeout } = values;
    checkApiKey((values as { key?: string }).key);
    if (timeout !== undefined && !values.wait) throw misuse('--timeout has a meaning only with --wait.');
    const timeoutMs = timeout === undefined ? undefined : readSpan('--timeout', timeout);
    const later = delay === undefined ? {} : { scheduled_at: `+PT${readSpan('--delay', delay) / 1_000}S` };
    const request = { ...readRequest(type, args, values, later), ...(id !== undefined && { id }) };

    const waybill = await context.connect({ create: true });
    const { job, created } = await waybill.jobs.enqueue(request, key === undefined ? {} : { idempotencyKey: key });
    if (!values.wait) {
      const known = created ? '' : ' (known already)';
      context.show({ job: jobToWire(job), created }, () => `${job.id} ${job.state} in queue ${job.queue}${known}\n`);
      return 0;
    }

    const interrupted = context.io.interrupted();
    const patience = { signal: interrupted, ...(timeoutMs !== undefined && { timeoutMs }) };
    const finished = await new Waits(waybill, systemClock)
      .untilFinished(job.id, patience, job.queue)
      .catch((error: unknown) => {
        if (interrupted.aborted) return null;
        // Whoever sees only the refusal would enqueue the job again.
        if ((error as { code?: unknown }).code === 'forbidden')
          context.io.stderr.write(`waybill: job ${job.id} was enqueued; only the wait for it has failed.\n`);
        throw error;
      });
    if (finished === null) {
      context.io.stderr.write(`waybill: no longer waiting for job ${job.id}; it goes on.\n`);
      return INTERRUPTED;
    }
    const isCompleted = finished.state === 'completed';
    const document = { job: jobToWire(finished), created };
    // A result is data, and goes out as it is.
    if (context.isJson || !isCompleted) context.show(document, () => '');
    else context.io.stdout.write(resultOf(finished));
    if (isCompleted) return 0;
    const why = lastError(finished)?.message;
    context.io.stderr.write(
      `waybill: job ${job.id} was ${finished.state}${why === undefined ? '.' : `: ${oneLine(why)}`}\n`,
    );
    return 1;
  },
});

/** A token of three parts, as an issuer signs it. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * `--key` has been the idempotency key here. Taken for an API key by a server that asks for none, it would have no effect,
 * and the job would run twice.
 */
function checkApiKey(key: string | undefined): void {
  if (key === undefined || keyIdIn(key) !== undefined || JWT.test(key)) return;
  throw new WaybillError('invalid_request', "The value of --key is no API key of Waybill, which begins with 'wb_'.", {
    hint: 'The idempotency key of a job is --idempotency-key. An API key of another form goes into WAYBILL_KEY.',
  });
}

/** A text as it is, so that scripts need not take it out of its quotes. */
const resultOf = ({ result }: Job): string =>
  `${typeof result === 'string' ? result : JSON.stringify(result, null, 2)}\n`;
