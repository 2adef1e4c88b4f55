import {
  isObject,
  type Job,
  type LoggedEvent,
  MISSED_OUTPUT,
  OUTPUT_TYPE,
  outputLoss,
  UNKNOWN_TYPE,
  type Waybill,
} from '@waybill/core';
import type { Context } from './context.ts';
import { startLine } from './exec-job.ts';

/** How long a job may wait until its caller is told that it does. */
const PATIENCE_MS = 3_000;

/** Shows what a program prints as it comes, bytes as they are, until its job has ended or the signal. */
export async function followOutput({ jobs }: Waybill, job: Job, signal: AbortSignal, context: Context): Promise<void> {
  const { io } = context;
  const tell = (text: string) => context.tell(text);
  const start = startLine(job.queue);
  const started = new AbortController();
  const waited = io.sleep(PATIENCE_MS, AbortSignal.any([signal, started.signal])).then(() => {
    if (!signal.aborted && !started.signal.aborted)
      tell(`no worker has taken the job within ${PATIENCE_MS / 1_000} s. If none runs, start one: ${start}`);
  });
  const onMissed = () => tell(MISSED_OUTPUT);
  const query = { types: [OUTPUT_TYPE], lifecycle: true, signal, onMissed };
  let wasHandedBack = false;
  try {
    for await (const item of jobs.follow(job.id, query)) {
      if (signal.aborted) return;
      if (item.kind === 'event') {
        if (item.event.type === 'job.started') started.abort();
        if (!isHandedBack(item.event) || wasHandedBack) continue;
        wasHandedBack = true;
        tell(`a worker without --exec has handed the job back. Start one with it: ${start}`);
        continue;
      }
      const { stream, output = new Uint8Array() } = item.entry;
      const loss = outputLoss(item.entry);
      if (loss !== undefined) tell(loss);
      else if (stream === 'stderr') io.stderr.write(output);
      else {
        io.stdout.write(output);
        await io.drained();
      }
    }
  } finally {
    started.abort();
    await waited;
  }
}

const isHandedBack = ({ type, data }: LoggedEvent): boolean =>
  type === 'job.snoozed' && isObject(data['error']) && data['error']['code'] === UNKNOWN_TYPE;
