import { auditRecorded } from './access/audit/audit-entry.ts';
import { keyBook } from './access/keys/key-book.ts';
import { inTenant } from './access/scoped.ts';
import { OffloadedStore } from './blobs/offloaded-store.ts';
import { lackError } from './blobs/payloads.ts';
import { BlobSweep } from './blobs/sweep-blobs.ts';
import { budgets } from './budgets/budgets.ts';
import { Ledger } from './budgets/ledger.ts';
import { Spender } from './budgets/spender.ts';
import { Claimer } from './claim/claimer.ts';
import { Heartbeats } from './claim/heartbeat.ts';
import { HeldJobs } from './claim/held-jobs.ts';
import { FollowUp } from './commit/follow-up.ts';
import { notReplayable, wrongState } from './commit/row-change.ts';
import { Writer } from './commit/writer.ts';
import { crons } from './cron/crons.ts';
import { deadLetters } from './dead-letters/dead-letters.ts';
import { deadMessages } from './dead-letters/dead-messages.ts';
import { Enqueuer, type MapItem } from './enqueue/enqueue.ts';
import { checkQueue, queueNotFound } from './enqueue/envelope.ts';
import { WaybillError } from './errors.ts';
import { follow } from './events/follow.ts';
import type { LoggedEvent } from './events/job-event.ts';
import { Tailer } from './events/tailer.ts';
import { workerDirected } from './events/told.ts';
import { explain } from './explain/explain.ts';
import { checkHealth } from './health/health.ts';
import { EngineChecks } from './health/health-checks.ts';
import { UnknownTypes } from './health/unknown-types.ts';
import { isGate } from './job/gate.ts';
import type { Job } from './job/job.ts';
import { FIRST_REMINDER_MS } from './job/next-at.ts';
import type { Revision } from './job/node-rules.ts';
import { jobJournal } from './journal/job-journal.ts';
import { checkedRule } from './limits/limit-options.ts';
import { limits } from './limits/limits.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import { type Upkeep, upkeep } from './maintenance/upkeep.ts';
import { checkNodeVersion } from './node-version.ts';
import { guarded } from './observer.ts';
import { type EngineOptions, resolveOptions } from './options.ts';
import { Reporter } from './progress/reporter.ts';
import { QuestionBook } from './questions/questions.ts';
import { checkedFilter, checkId, pageOf } from './read-query.ts';
import { records } from './records/records.ts';
import { Settler } from './settle/settler.ts';
import { SinkHolders } from './sinks/sink-holders.ts';
import { EngineSinks } from './sinks/sinks.ts';
import type { CronRecord } from './store/crons.ts';
import { checkKeep } from './store/queues.ts';
import { EnqueueGuard } from './tenants/enqueue-guard.ts';
import { LimitBook } from './tenants/limit-book.ts';
import { tenants } from './tenants/tenants.ts';
import { pollTransport } from './transport/poll/poll-transport.ts';
import { Reminders } from './transport/reminders.ts';
import type { Events, Waybill } from './waybill.ts';
import { waitsForParents } from './workflow/advance.ts';
import { Advancer } from './workflow/advancer.ts';
import { Steps } from './workflow/steps.ts';
import { workflows } from './workflow/workflows.ts';

const COUNT_AT_MOST = 10_000;
/** Events of one read where the call names no limit, as over HTTP. */
const EVENTS_LIMIT = 100;

/** The port with what only an engine has for certain. */
export type Engine = WholePort & {
  /** For processes without loops of their own, such as functions. */
  readonly upkeep: Upkeep;
};

type WholePort = Waybill & Required<Pick<Waybill, 'records' | 'keys' | 'sinks' | 'audit'>>;

/** The embedded engine: the whole of Waybill on one store, in this process. */
export function engine(options: EngineOptions): Engine {
  checkNodeVersion();
  const asked = resolveOptions(options);
  const offloaded = asked.blobs && new OffloadedStore(asked.store, asked.blobs);
  const payloads = offloaded?.payloads;
  const store = offloaded ?? asked.store;
  const transport = asked.transport ?? pollTransport({ store });
  const { clock, logger, leaseMs } = asked;
  const observer = asked.observer && guarded(asked.observer, logger);
  const resolved = { ...asked, store, ...(observer && { observer }) };
  // Also without upkeep: whoever ends a job notes when its row may go.
  if (options.retention) store.keepFor?.(options.retention);
  const unknownTypes = new UnknownTypes(clock);
  const tailer = new Tailer({ log: asked.store.events, clock });
  const closing = new AbortController();
  let closed: Promise<void> | undefined;

  const followUp: FollowUp = new FollowUp({
    ...{ transport, logger },
    expect: (nextAt) => maintenance.expect(nextAt),
    advance: (job) => advancer.advance(job),
    remind: (jobs) => reminders.remind(jobs),
    remindQueue: (tenant, queue) => reminders.resume(tenant, queue, closing.signal),
    noteWritten: (jobs) => unknownTypes.written(jobs),
    notifyReaders: () => tailer.ring(),
    observer,
  });
  if (followUp.isHinted) {
    store
      .useReminders?.(FIRST_REMINDER_MS)
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'Jobs that come in by SQL may wait for a worker to look.'),
      );
  }
  const reminders = new Reminders({ store, transport, logger, hint: (jobs) => followUp.hint(jobs) });
  const writer = new Writer({ store, transport, followUp });
  const held = new HeldJobs();
  const book = new LimitBook(store);
  const guard = new EnqueueGuard({ store, book });
  const enqueuer = new Enqueuer(writer, { clock, guard, transport });
  const steps = new Steps(store);
  const make = {
    callback: (request: unknown, tenant: string) => enqueuer.make(request, tenant),
    item: (map: Job, item: MapItem) => enqueuer.makeItem(map, item),
    revision: (gate: Job, asked: { node: string; revision: Revision }) => enqueuer.makeRevision(gate, asked),
    step: (map: Job) => steps.eventOf(map),
    tick: (cron: CronRecord, tick: number) => enqueuer.makeTick(cron, tick),
  };
  const maintenance: Maintenance = new Maintenance(resolved, {
    ...{ writer, make },
    ...(asked.blobs && { blobs: new BlobSweep(asked.store, asked.blobs.store) }),
  });
  const advancer: Advancer = new Advancer({
    ...{ store, writer, logger, make },
    onFailed: ({ nextAt }) => maintenance.expect(nextAt),
  });
  const settler = new Settler({
    stepOf: (job) => steps.eventOf(job),
    ...{ store, transport, writer, held, logger },
    onRepeated: (job) => followUp.rows([job]),
    onHandedBack: (job) => unknownTypes.handedBack(job),
    advance: (job) => advancer.advance(job),
  });
  const heartbeats = new Heartbeats({ store, transport, logger, followUp, observer });
  const reporter = new Reporter({ store, writer, followUp, heartbeats });
  const claimer = new Claimer({
    ...{ store, transport, writer, followUp, held, logger, leaseMs },
    ...(payloads && { payloads }),
    adopt: enqueuer.adopt,
    closing: closing.signal,
  });
  if (resolved.maintenance) maintenance.start();

  const apart = (overBytes: number | undefined) => (overBytes === undefined ? undefined : offloaded?.apart(overBytes));

  const following =
    (open: (event: LoggedEvent) => Promise<LoggedEvent>): Events['follow'] =>
    (query) => {
      const signal = AbortSignal.any([query.signal, closing.signal]);
      return follow({ log: asked.store.events, tailer, clock, open }, { ...query, signal });
    };
  const followEvents = following(async (event) => (payloads ? payloads.openEvent(event) : event));
  const events: Waybill['events'] = {
    read: async ({ filter, ...query } = {}) =>
      store.events.read({ ...pageOf(query, EVENTS_LIMIT), filter: { tenant: '', ...filter } }),
    end: () => store.events.end(),
    follow: followEvents,
  };
  const journal = jobJournal({
    ...{ store, writer, events, mostBytes: asked.journal.maxBytes },
    ...{ hasBlobs: asked.blobs !== undefined, closing: closing.signal },
  });
  const told = { onTold: () => followUp.reported() };
  const ledger = new Ledger({ store, ...told });
  // As it is stored: who holds a job is in its row, and its payloads are not opened.
  const spender = new Spender({ store: asked.store, ledger });
  const holders = new SinkHolders(store);
  const questions = new QuestionBook({ store, writer, logger, ...told });
  const sinks = new EngineSinks({
    ...{ store, logger, holders, ...told },
    // As it is stored: payloads are read for each try, so that one that cannot be read is a try that fails.
    follow: following(async (event) => event),
    read: (query) => asked.store.events.read(query),
    open: async (event) => (payloads ? payloads.openSent(event) : event),
  });
  const checks = new EngineChecks({
    ...{ store, logger, holders, settings: resolved.health, ...told },
    due: (query) => writer.due(query),
    mustRead: (key) => writer.mustRead(key),
  });
  if (resolved.maintenance && resolved.health.rounds) checks.start();

  async function close(): Promise<void> {
    store.closeSoon?.();
    const sinksEnded = sinks.close();
    const checksEnded = checks.stop();
    closing.abort();
    // While the store is open: they save how far they are.
    await Promise.all([sinksEnded, checksEnded]);
    await maintenance.stop();
    // While the transport still takes back what came too late.
    await claimer.idle();
    await transport.close();
    await Promise.all([
      writer.idle(),
      advancer.idle(),
      heartbeats.idle(),
      reporter.idle(),
      ledger.idle(),
      steps.idle(),
    ]);
    await journal.idle();
    await book.idle();
    await store.close();
  }

  const port: Waybill = {
    jobs: {
      enqueue: enqueuer.enqueue,
      enqueueMany: enqueuer.enqueueMany,
      get: async (id, { tenant = '', overBytes } = {}) => {
        checkId(id);
        const [found] = (await apart(overBytes)?.get([{ tenant, id }])) ?? [];
        const job = found ?? (await writer.mustRead({ tenant, id }));
        const lack = payloads?.lackOf(job);
        if (lack) throw lackError(job, lack);
        return job;
      },
      ...(asked.blobs?.store.presign && payloads && { urls: (job, bound) => payloads.urlsOf(job, bound) }),
      list: async ({ filter, overBytes, ...query } = {}) =>
        (apart(overBytes) ?? store).list({ ...pageOf(query), filter: checkedFilter(filter) }),
      explain: (id, { tenant = '' } = {}) =>
        explain(
          {
            ...{ store, rows: asked.store, payloads },
            unknownType: (job) => unknownTypes.alike(job),
          },
          ...([tenant, id] as const),
        ),
      claim: (call) => claimer.claim(call),
      heartbeat: (call) => heartbeats.beat(call),
      settle: (call) => settler.settle(call),
      report: (call) => reporter.report(call),
      progress: (id, context) => reporter.progress(id, context),
      spend: (call) => spender.spend(call),
      append: journal.append,
      journal: journal.journal,
      follow: journal.follow,
      ask: (call) => questions.ask(call),
      cancel: (id, { tenant = '', ...told } = {}) =>
        writer.change({ tenant, id }, { do: 'cancel', ...told }, (job) =>
          wrongState(job, 'a finished job cannot be cancelled'),
        ),
      activate: async (id, { tenant = '' } = {}) => {
        const job = await writer.mustRead({ tenant, id });
        if (isGate(job) || (await waitsForParents(store, job)))
          throw wrongState(job, 'a workflow starts its nodes when their parents have completed');
        return writer.change({ tenant, id }, { do: 'activate' }, (found) =>
          wrongState(found, 'only a pending job can be activated'),
        );
      },
      retry: (id, { tenant = '' } = {}) => writer.change({ tenant, id }, { do: 'replay' }, notReplayable),
    },
    deadLetters: {
      ...deadLetters(store, writer),
      ...(transport.aside && { messages: deadMessages(store, transport.aside) }),
    },
    queues: {
      list: ({ tenant = '' } = {}) => store.queues.list(tenant),
      pause: (name, { tenant = '', by } = {}) => writer.setPaused(tenant, checkQueue(name, 'queue'), true, by),
      resume: (name, { tenant = '', by } = {}) => writer.setPaused(tenant, checkQueue(name, 'queue'), false, by),
      setLimit: async (name, limit, { tenant = '' } = {}) => {
        const rule = limit === null ? null : checkedRule(limit, 'limit');
        return writer.setQueueLimit(tenant, checkQueue(name, 'queue'), rule);
      },
      setKeep: async (name, keep, { tenant = '' } = {}) =>
        writer.setKeep(tenant, checkQueue(name, 'queue'), checkKeep(keep)),
      stats: async (name, { tenant = '' } = {}) => {
        const stats = await store.queues.stats(tenant, checkQueue(name, 'queue'), { atMost: COUNT_AT_MOST });
        if (stats === null) throw queueNotFound(name);
        return stats;
      },
    },
    limits: limits(store, writer),
    tenants: tenants({ store, book }),
    budgets: budgets(store),
    crons: crons(store, transport, (nextAt) => {
      maintenance.expect(nextAt);
      followUp.reported();
    }),
    workflows: workflows({
      ...{ store, writer, enqueuer, advance: (job) => advancer.advance(job) },
      onAlarm: (nextAt) => maintenance.expect(nextAt),
    }),
    workers: {
      list: ({ tenant = '' } = {}) => store.workers.list(tenant),
      direct: async (id, directive, { tenant = '' } = {}) => {
        const told = workerDirected(id, directive, { tenant, at: clock.now() });
        const worker = await store.workers.direct(tenant, id, directive, told);
        followUp.reported();
        if (worker === null) throw new WaybillError('not_found', `No worker ${id} was ever seen.`);
        return worker;
      },
    },
    questions: {
      list: (query) => questions.list(query),
      get: (id, context) => questions.get(id, context),
      answer: (id, answer, context) => questions.answer(id, answer, context),
    },
    events,
    checks,
    records: records({ store, sinks: holders, ...told }),
    keys: keyBook({ store, ...told }),
    sinks,
    audit: {
      record: async (entry, { tenant = '' } = {}) => {
        await store.events.tell([auditRecorded(entry, { tenant, at: clock.now() })]);
        followUp.reported();
      },
    },
    health: () =>
      checkHealth(
        ...([store, transport, () => maintenance.health()] as const),
        ...([unknownTypes.health(), sinks.ailing()] as const),
      ),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
  // Every name of a tenant that comes in is checked there, and nowhere else.
  const whole = inTenant(port, '') as WholePort;
  const calls = {
    ...{ store, writer, make, maintenance, advancer },
    ...{ hint: (jobs: readonly Job[]) => followUp.hint(jobs), adopt: enqueuer.adopt },
  };
  return { ...whole, upkeep: upkeep(calls) };
}
