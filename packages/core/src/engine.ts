import { offloadedStore } from './blobs/offloaded-store.ts';
import { lackError } from './blobs/payloads.ts';
import { BlobSweep } from './blobs/sweep-blobs.ts';
import { Claimer } from './claim/claimer.ts';
import { Heartbeats } from './claim/heartbeat.ts';
import { HeldJobs } from './claim/held-jobs.ts';
import { RowWriter, wrongState } from './commit/row-writer.ts';
import { crons } from './cron/crons.ts';
import { deadLetters } from './dead-letters/dead-letters.ts';
import { deadMessages } from './dead-letters/dead-messages.ts';
import { Enqueuer } from './enqueue/enqueue.ts';
import { checkQueue } from './enqueue/envelope.ts';
import { WaybillError } from './errors.ts';
import { follow } from './events/follow.ts';
import { Signal } from './events/signal.ts';
import { checkHealth } from './health/health.ts';
import type { Job } from './job/job.ts';
import { limits } from './limits/limits.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import { checkNodeVersion } from './node-version.ts';
import { type EngineOptions, resolveOptions } from './options.ts';
import { Reporter } from './progress/reporter.ts';
import { Settler } from './settle/settler.ts';
import type { CronRecord } from './store/crons.ts';
import { hintsFor } from './transport/hint.ts';
import { hintedStore } from './transport/hinted-store.ts';
import { pollTransport } from './transport/poll/poll-transport.ts';
import { Reminders } from './transport/reminders.ts';
import type { Waybill } from './waybill.ts';
import { Advancer } from './workflow/advancer.ts';
import { workflows } from './workflow/workflows.ts';

const COUNT_AT_MOST = 10_000;

/** The embedded engine: the whole of Waybill on one store, in this process. */
export function engine(options: EngineOptions): Waybill {
  checkNodeVersion();
  const asked = resolveOptions(options);
  const offloaded = asked.blobs && offloadedStore(asked.store, asked.blobs);
  const payloads = offloaded?.payloads;
  const whole = offloaded?.store ?? asked.store;
  const transport = asked.transport ?? pollTransport({ store: whole });
  const { clock, logger, leaseMs } = asked;
  const tellDead = (jobs: readonly Job[]): void => {
    transport
      .tellDead?.(jobs)
      .catch((error: unknown) => logger.warn({ err: error }, 'Dead jobs were not told of; they are in the store.'));
  };
  const isHinted = transport.capabilities.delivers === 'hints';
  const store = isHinted ? hintedStore(whole, tellDead) : whole;
  const resolved = { ...asked, store };
  // Also without upkeep: whoever ends a job notes when its row may go.
  if (options.retention) store.keepFor?.(options.retention);
  const written = new Signal();
  const closing = new AbortController();
  let closed: Promise<void> | undefined;

  /** A hint that gets lost costs latency only, so nobody waits for it and nobody hears of its failure but the log. */
  const hint = (jobs: readonly Job[]): void => {
    if (!isHinted || jobs.every(({ rank }) => rank === null)) return;
    transport
      .send(hintsFor(jobs))
      .catch((error: unknown) => logger.warn({ err: error }, 'Hints were not sent; the sweep repeats them.'));
  };
  const onChanged = (jobs: readonly Job[]): void => {
    for (const job of jobs) {
      if (job.advancePending) void advancer.advance(job);
      else maintenance.expect(job.nextAt);
    }
    hint(jobs);
    written.ring();
  };
  const reminders = new Reminders({ store, transport, logger, hint });

  const held = new HeldJobs();
  const rows = new RowWriter(store, onChanged);
  const enqueuer = new Enqueuer(store, transport, onChanged);
  const makers = {
    callback: (request: unknown, tenant: string) => enqueuer.make(request, tenant),
    tick: (cron: CronRecord, tick: number) => enqueuer.makeTick(cron, tick),
  };
  const maintenance: Maintenance = new Maintenance(resolved, makers, {
    onChanged,
    onUnclaimed: (jobs) => void reminders.remind(jobs),
    ...(asked.blobs && { blobs: new BlobSweep(asked.store, asked.blobs.store) }),
  });
  const advancer: Advancer = new Advancer({
    ...{ store, logger, make: makers.callback, onChanged },
    onFailed: ({ nextAt }) => maintenance.expect(nextAt),
  });
  const settler = new Settler({
    ...{ store, transport, rows, held, logger },
    onRepeated: (job) => onChanged([job]),
    advance: (job) => advancer.advance(job),
  });
  const heartbeats = new Heartbeats({ store, transport, logger });
  const reporter = new Reporter({ store, rows, heartbeats, onTold: () => written.ring() });
  const claimer = new Claimer({
    ...{ store, transport, held, logger, leaseMs },
    adopt: enqueuer.enqueue,
    closing: closing.signal,
    onClaimed: onChanged,
  });
  if (resolved.maintenance) maintenance.start();

  const apart = (overBytes: number | undefined) =>
    overBytes === undefined ? undefined : offloaded?.apart?.(overBytes);

  async function close(): Promise<void> {
    closing.abort();
    await maintenance.stop();
    // While the transport still takes back what came too late.
    await claimer.idle();
    await transport.close();
    await Promise.all([enqueuer.idle(), rows.idle(), advancer.idle(), heartbeats.idle(), reporter.idle()]);
    await store.close();
  }

  return {
    jobs: {
      enqueue: enqueuer.enqueue,
      enqueueMany: enqueuer.enqueueMany,
      get: async (id, { tenant = '', overBytes } = {}) => {
        const [found] = (await apart(overBytes)?.get([{ tenant, id }])) ?? [];
        const job = found ?? (await rows.mustRead({ tenant, id }));
        const lack = payloads?.lackOf(job);
        if (lack) throw lackError(job, lack);
        return job;
      },
      ...(offloaded?.apart && payloads && { urls: (job, bound) => payloads.urlsOf(job, bound) }),
      list: ({ filter, overBytes, ...query }) =>
        (apart(overBytes) ?? store).list({ ...query, filter: { tenant: '', ...filter } }),
      claim: (call) => claimer.claim(call),
      heartbeat: (call) => heartbeats.beat(call),
      settle: (call) => settler.settle(call),
      report: (call) => reporter.report(call),
      progress: (id, context) => reporter.progress(id, context),
      cancel: (id, { tenant = '', ...told } = {}) =>
        rows.change({ tenant, id }, { do: 'cancel', ...told }, (job) =>
          wrongState(job, 'a finished job cannot be cancelled'),
        ),
      activate: async (id, { tenant = '' } = {}) => {
        const job = await rows.mustRead({ tenant, id });
        if (job.workflowId !== null)
          throw wrongState(job, 'a workflow starts its nodes when their parents have completed');
        return rows.change({ tenant, id }, { do: 'activate' }, (found) =>
          wrongState(found, 'only a pending job can be activated'),
        );
      },
    },
    deadLetters: {
      ...deadLetters(store, rows),
      ...(transport.aside && { messages: deadMessages(store, transport.aside) }),
    },
    queues: {
      list: ({ tenant = '' } = {}) => store.queues.list(tenant),
      pause: (name, { tenant = '' } = {}) => store.queues.setPaused(tenant, checkQueue(name, 'queue'), true),
      resume: async (name, { tenant = '' } = {}) => {
        const info = await store.queues.setPaused(tenant, checkQueue(name, 'queue'), false);
        void reminders.resume(tenant, name, closing.signal);
        return info;
      },
      setLimit: (name, limit, { tenant = '' } = {}) => store.queues.setLimit(tenant, checkQueue(name, 'queue'), limit),
      setKeep: (name, keep, { tenant = '' } = {}) => store.queues.setKeep(tenant, checkQueue(name, 'queue'), keep),
      stats: async (name, { tenant = '' } = {}) => {
        const stats = await store.queues.stats(tenant, checkQueue(name, 'queue'), { atMost: COUNT_AT_MOST });
        if (stats === null) throw new WaybillError('not_found', `There is no queue '${name}'.`);
        return stats;
      },
    },
    limits: limits(store),
    crons: crons(store, (nextAt) => maintenance.expect(nextAt)),
    workflows: workflows({ store, rows, enqueuer }),
    workers: {
      list: ({ tenant = '' } = {}) => store.workers.list(tenant),
      direct: async (id, directive, { tenant = '' } = {}) => {
        const worker = await store.workers.direct(tenant, id, directive);
        if (worker === null) throw new WaybillError('not_found', `No worker ${id} was ever seen.`);
        return worker;
      },
    },
    events: {
      read: (query) => store.events.read(query),
      end: () => store.events.end(),
      follow: (query) => {
        const signal = AbortSignal.any([query.signal, closing.signal]);
        return follow({ log: store.events, clock, written }, { ...query, signal });
      },
    },
    health: () => checkHealth(store, transport, resolved.maintenance ? maintenance.health() : undefined),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
