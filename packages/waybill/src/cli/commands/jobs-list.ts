import { JOB_STATES } from '@waybill/core';
import { command } from '../command.ts';
import { jobsText, showJobs } from '../job-table.ts';
import { tellOfOtherTenants } from '../other-tenants.ts';
import { PAGE_OPTIONS, readPage } from '../page-options.ts';
import { readList, readListOf } from '../read-value.ts';
import { checkWatch, redrawn } from '../redrawn.ts';

export const jobsList = command({
  name: 'jobs list',
  section: 'Jobs',
  summary: 'list jobs, newest first',
  options: {
    state: { value: 'STATES', about: `${JOB_STATES.join(', ')}; several with commas` },
    queue: { value: 'NAMES', about: 'only of these queues' },
    type: { value: 'TYPES', about: 'only of these types' },
    ...PAGE_OPTIONS,
    watch: { about: 'draw it again when something changes, until Ctrl-C; at a terminal' },
  },
  run: async ({ values: { state, queue, type, watch, ...page } }, context) => {
    const filter = {
      ...(state !== undefined && { states: readListOf('--state', state, JOB_STATES) }),
      ...(queue !== undefined && { queues: readList('--queue', queue) }),
      ...(type !== undefined && { types: readList('--type', type) }),
    };
    const query = readPage(page);
    if (watch) checkWatch(context);
    const waybill = await context.connect();
    const list = () => waybill.jobs.list({ ...query, filter });
    if (watch) await redrawn(async () => jobsText(await list(), context), waybill, context);
    else {
      showJobs(await list(), query.limit, context);
      await tellOfOtherTenants(waybill, context);
    }
    return 0;
  },
});
