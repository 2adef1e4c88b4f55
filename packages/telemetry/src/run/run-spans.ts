import { type Attributes, type Context, context, ROOT_CONTEXT, type Span, SpanKind } from '@opentelemetry/api';
import type { Job, Lease, Outcome } from '@waybill/core';
import type { Middleware, WorkerLoad } from '@waybill/worker';
import type { Instruments } from '../metrics/instruments.ts';
import { messaging } from '../trace/attributes.ts';
import { ContextWithSpan } from '../trace/context-with-span.ts';
import { settledIn } from '../trace/settling.ts';
import { nowMs } from '../trace/span-time.ts';
import { errorType, isUnsampled, type Spans } from '../trace/spans.ts';
import { contextOf } from '../trace/trace-context.ts';

interface RunSpan {
  /** Undefined where the job's trace is not sampled. */
  span: Span | undefined;
  context: Context;
  startMs: number;
  /** When the handler ended; undefined while it goes on. */
  endMs: number | undefined;
  isOver: boolean;
}

/**
 * On the lease, which lives as long as its run: a Map or WeakMap of the thousands that come and go would keep each of them
 * alive until the next full collection, and that costs more than the spans.
 */
const RUN = Symbol('waybill.run');
type ObservedLease = Lease & { [RUN]?: RunSpan };

/**
 * One span for each run, under the span that made the job: every retry is a run of its own. It ends with the outcome
 * that is settled, which only the worker knows: a handler may return too late, or what cannot be a result.
 */
export function runSpans(spans: Spans, instruments: Instruments): Middleware {
  const workers = new Set<WorkerLoad>();
  let isAttached = false;

  // Made anew for each run they would cost as much as the recording.
  let last: { job: Job; outcome: string; labels: Attributes } | undefined;
  const labelsOf = (job: Job, outcome: string): Attributes => {
    const isSame = last?.outcome === outcome && last.job.queue === job.queue && last.job.type === job.type;
    if (last && isSame && last.job.tenant === job.tenant) return last.labels;
    const labels = { ...instruments.ofQueue(job.queue, job.tenant), type: instruments.types.of(job.type), outcome };
    last = { job, outcome, labels };
    return labels;
  };

  const end = (run: RunSpan, job: Job, outcome: string, error?: string) => {
    if (run.isOver) return;
    run.isOver = true;
    const endMs = run.endMs ?? nowMs();
    if (run.span) spans.end(run.span, { attributes: { 'waybill.outcome': outcome }, error, endMs });
    instruments.tell('run', (endMs - run.startMs) / 1_000, labelsOf(job, outcome));
  };

  /** Without a frame of its own to wait in, as hundreds do at a time. */
  const middleware: Middleware = ({ lease }, next) => {
    const { job } = lease;
    const parent = contextOf(job.spec.meta);
    const startMs = nowMs();
    // What is not sampled needs neither: whatever the handler enqueues is not sampled, either.
    const span =
      !spans.isOn || isUnsampled(parent)
        ? undefined
        : spans.start({
            ...{ name: `process ${job.queue}`, kind: SpanKind.CONSUMER, attributes: ofRun(job), parent, startMs },
          });
    const inside = span ? new ContextWithSpan(parent, span) : parent;
    const run: RunSpan = { span, context: inside, startMs, endMs: undefined, isOver: false };
    (lease as ObservedLease)[RUN] = run;
    const isTraced = spans.isOn || inside !== ROOT_CONTEXT;
    return (isTraced ? context.with(inside, next) : next()).then(
      (answer) => {
        run.endMs = nowMs();
        if (!isAttached) end(run, job, 'completed');
        return answer;
      },
      (error: unknown) => {
        run.endMs = nowMs();
        if (!isAttached) end(run, job, 'failed', errorType(error));
        throw error;
      },
    );
  };

  middleware.attach = (worker) => {
    if (!isAttached) observeUtilisation(workers, instruments);
    isAttached = true;
    workers.add(worker);
    void worker.ended.then(() => workers.delete(worker));
  };

  // What a journal was too full for is counted where the store is.
  middleware.dropped = (entries, reason) => {
    if (reason !== 'cut') instruments.tell('dropped', entries, { reason });
  };

  middleware.settle = ({ lease, outcome }, next) => {
    const { job, [RUN]: run } = lease as ObservedLease;
    if (run) end(run, job, outcome?.kind ?? 'lost', outcome === null ? 'lease_lost' : errorTypeOf(outcome));
    return settledIn(run?.context ?? contextOf(job.spec.meta), next);
  };
  return middleware;
}

const PROCESS = messaging('process', 'process');

const ofRun = ({ id, type, queue, run, attempt, workflowId }: Job) => ({
  ...PROCESS,
  'messaging.destination.name': queue,
  'waybill.job.id': id,
  'waybill.job.type': type,
  'waybill.job.run': run,
  'waybill.job.attempt': attempt,
  // Dropped by the SDK where it is undefined; a second spread would cost more than the rest.
  'waybill.workflow.id': workflowId ?? undefined,
});

/** Only what the error is called: its message may hold what the job is about. */
function errorTypeOf(outcome: Outcome): string | undefined {
  if (outcome.kind !== 'failed' && outcome.kind !== 'discarded') return undefined;
  const { type, code } = outcome.error ?? {};
  return (type ?? code ?? outcome.kind).slice(0, 100);
}

/** Of all workers of this process together. */
function observeUtilisation(workers: ReadonlySet<WorkerLoad>, instruments: Instruments): void {
  instruments.observable('utilisation').addCallback((result) => {
    let [running, slots] = [0, 0];
    for (const worker of workers) {
      running += worker.running;
      slots += worker.slots;
    }
    if (slots > 0) result.observe(running / slots);
  });
}
