import { type Attributes, type Context, context, type SpanContext, SpanKind, trace } from '@opentelemetry/api';
import { isObject, type Job, type Jobs, type SettleCall, type Waybill } from '@waybill/core';
import type { CallParts } from '../store/observed-calls.ts';
import { messaging, ofJob } from '../trace/attributes.ts';
import { settlingContext } from '../trace/settling.ts';
import { nowMs } from '../trace/span-time.ts';
import { errorType, isUnsampled, type Spans } from '../trace/spans.ts';
import { belongingOf, readTrace, writeTrace } from '../trace/trace-context.ts';
import { observedJournal } from './observed-journal.ts';
import { traced, tracedNodes, tracedWorkflow } from './traced-request.ts';

/** The port of an engine or of a client, with spans for what makes, takes and ends jobs. */
export function observedPort(waybill: Waybill, { spans, instruments }: CallParts): Waybill {
  const { jobs, workflows } = waybill;
  // With a server in between, the call's headers are asked for what is active.
  const isRemote = waybill.records === undefined;
  const run = isRemote ? spans.within.bind(spans) : spans.beside.bind(spans);
  const send = { kind: SpanKind.PRODUCER, attributes: messaging('send', 'enqueue') };
  return {
    ...waybill,
    jobs: {
      ...jobs,
      ...observedJobs(jobs, { spans, run, isRemote }),
      ...observedJournal(jobs, { spans, instruments, run, isRemote }),
    },
    workflows: {
      ...workflows,
      create: (request, given) =>
        run(
          { ...send, name: 'create workflow' },
          (span) => workflows.create(tracedWorkflow(request, writeTrace(span)), given),
          ({ id, total }) => ({ attributes: { 'waybill.workflow.id': id, 'messaging.batch.message_count': total } }),
        ),
      addNodes: (id, nodes, given) =>
        run(
          { ...send, name: 'add nodes to workflow' },
          (span) => workflows.addNodes(id, tracedNodes(nodes, writeTrace(span)), given),
          () => ({
            attributes: {
              'waybill.workflow.id': id,
              'messaging.batch.message_count': Array.isArray(nodes) ? nodes.length : 0,
            },
          }),
        ),
    },
  };
}

interface PortParts {
  spans: Spans;
  run: Spans['within'];
  isRemote: boolean;
}

function observedJobs(
  jobs: Jobs,
  { spans, run, isRemote }: PortParts,
): Pick<Jobs, 'enqueue' | 'enqueueMany' | 'claim' | 'settle'> {
  /** Its span is made when the answer is there: hundreds wait for one flush, and a span that waits with them costs more. */
  const settleHere = (call: SettleCall, parent: Context): Promise<Job> => {
    const startMs = nowMs();
    return jobs.settle(call).then(
      (job) => {
        const other = otherTrace(job, trace.getSpanContext(parent));
        const links = other && [{ context: other }];
        const attributes = ofSettle(call, job.queue);
        spans.record({ name: 'settle', kind: SpanKind.CLIENT, attributes, parent, links, startMs });
        return job;
      },
      (error: unknown) => {
        const attributes = ofSettle(call, undefined);
        spans.record(
          { name: 'settle', kind: SpanKind.CLIENT, attributes, parent, startMs },
          { error: errorType(error) },
        );
        throw error;
      },
    );
  };
  return {
    enqueue: (request, given) => {
      const queue = queueOf(request);
      return run(
        { name: `enqueue ${queue}`, kind: SpanKind.PRODUCER, attributes: messaging('send', 'enqueue', queue) },
        (span) => jobs.enqueue(traced(request, writeTrace(span)), given),
        ({ job, created }, span) => ({
          attributes: { ...ofJob(job), ...(!created && { 'waybill.job.created': false }) },
          link: otherTrace(job, span),
        }),
      );
    },

    enqueueMany: (requests, given) => {
      const list = Array.isArray(requests) ? requests : [];
      const queues = new Set(list.map(queueOf));
      const [queue] = queues;
      const only = queues.size === 1 ? queue : undefined;
      const { links } = ownTraces(list);
      return run(
        {
          name: only === undefined ? 'enqueue' : `enqueue ${only}`,
          kind: SpanKind.PRODUCER,
          attributes: { ...messaging('send', 'enqueue', only), 'messaging.batch.message_count': list.length },
          links,
        },
        (span) => {
          const fields = writeTrace(span);
          return jobs.enqueueMany(list === requests ? list.map((one) => traced(one, fields)) : requests, given);
        },
      );
    },

    // Made when it has brought something: whose trace it belongs to is not known before, and most claims only wait.
    claim: async (call) => {
      const startMs = nowMs();
      const only = Array.isArray(call?.queues) && call.queues.length === 1 ? call.queues[0] : undefined;
      const request = {
        name: only === undefined ? 'claim' : `claim ${only}`,
        kind: SpanKind.CLIENT,
        startMs,
        onlySampled: true,
        attributes: messaging('receive', 'claim', only),
      };
      try {
        const leases = await jobs.claim(call);
        if (leases.length === 0 || !spans.isOn) return leases;
        const attributes = { ...request.attributes, 'messaging.batch.message_count': leases.length };
        spans.record({ ...request, attributes, ...belongingOf(leases.map(({ job }) => job.spec.meta)) });
        return leases;
      } catch (error) {
        if (!call?.signal?.aborted) spans.record(request, { error: errorType(error) });
        throw error;
      }
    },

    settle: (call) => {
      const parent = settlingContext();
      if (!spans.isOn || isUnsampled(parent))
        return isRemote ? context.with(parent, jobs.settle, jobs, call) : jobs.settle(call);
      if (!isRemote) return settleHere(call, parent);
      return run(
        { name: 'settle', kind: SpanKind.CLIENT, attributes: ofSettle(call, undefined), parent },
        () => jobs.settle(call),
        (job, span) => ({ attributes: { 'messaging.destination.name': job.queue }, link: otherTrace(job, span) }),
      );
    },
  };
}

const SETTLE = messaging('settle', 'settle');

/** Where the call was not checked yet. */
const ofSettle = (call: SettleCall | undefined, queue: string | undefined): Attributes => ({
  ...SETTLE,
  'messaging.destination.name': queue,
  'waybill.job.id': call?.id,
  'waybill.outcome': call?.outcome?.kind,
});

/** What a request names, before it was checked. */
function queueOf(request: unknown): string {
  const options = isObject(request) ? request['options'] : undefined;
  const queue =
    (isObject(options) ? options['queue'] : undefined) ?? (isObject(request) ? request['queue'] : undefined);
  return typeof queue === 'string' ? queue.slice(0, 128) : 'default';
}

/** Traces that producers have noted in their jobs themselves. */
function ownTraces(requests: readonly unknown[]) {
  const metas = requests.map((request) => (isObject(request) && isObject(request['meta']) ? request['meta'] : {}));
  const { links, parent } = belongingOf(metas);
  const own = parent && trace.getSpanContext(parent);
  return { links: links ?? (own ? [{ context: own }] : undefined) };
}

/** Where a job goes on in another trace than the one that this call is a part of: one that it brought, or an older job's. */
function otherTrace({ spec: { meta } }: Job, own: SpanContext | undefined): SpanContext | undefined {
  const { traceparent, tracestate } = meta;
  if (typeof traceparent !== 'string' || (own && traceparent.includes(own.traceId))) return undefined;
  return readTrace(traceparent, tracestate);
}

/** The trace that is active, as headers for a server. */
export const activeHeaders = (): Record<string, string> => ({
  ...writeTrace(trace.getSpanContext(context.active())),
});
