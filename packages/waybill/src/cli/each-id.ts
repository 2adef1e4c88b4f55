import { jobToWire } from '@waybill/client';
import type { Job, Waybill } from '@waybill/core';
import type { Context } from './context.ts';
import { wholeId } from './job-ids.ts';
import { exitCodeOf, refusalOf, report } from './report.ts';

/** Does something to each job that was named, by its id or the begin of it. One that refuses does not keep the others; the first tells the exit code. */
export async function forEachId(
  waybill: Waybill,
  ids: readonly string[],
  context: Context,
  word: string,
  act: (id: string) => Promise<Job>,
): Promise<number> {
  const done: Job[] = [];
  const errors: { job_id: string; code: string; message: string }[] = [];
  let exitCode = 0;
  for (const id of ids) {
    try {
      done.push(await act(await wholeId(waybill, id)));
    } catch (error) {
      const { code, message } = refusalOf(error);
      errors.push({ job_id: id, code, message });
      exitCode ||= exitCodeOf(error);
      report(error, context.io);
    }
  }
  const document = { jobs: done.map((job) => jobToWire(job)), ...(errors.length > 0 && { errors }) };
  context.show(document, () => done.map(({ id }) => `${id} ${word}\n`).join(''));
  return exitCode;
}
