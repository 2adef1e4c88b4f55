import type { Job } from '@waybill/core';
import { command } from '../command.ts';
import { forEachId } from '../each-id.ts';
import { tellFailedWorkflows } from '../failed-workflows.ts';

export const jobsRetry = command({
  name: 'jobs retry',
  section: 'Jobs',
  summary: 'run finished jobs again with all their attempts',
  args: 'ID…',
  notes: 'However a job ended: completed, cancelled or discarded. Many dead letters at once: waybill dead replay --all',
  run: async ({ args }, context) => {
    const waybill = await context.connect();
    const again: Job[] = [];
    const exitCode = await forEachId(waybill, args, context, 'starts over', async (id) => {
      const job = await waybill.jobs.retry(id);
      again.push(job);
      return job;
    });
    await tellFailedWorkflows(waybill, again, context);
    return exitCode;
  },
});
