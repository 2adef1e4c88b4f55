import { JOB_STATES } from '@waybill/core';
import { command } from '../command.ts';
import { showJobs } from '../job-table.ts';
import { PAGE_OPTIONS, readPage } from '../page-options.ts';
import { readList, readListOf } from '../read-value.ts';

export const jobsList = command({
  name: 'jobs list',
  section: 'Jobs',
  summary: 'list jobs, newest first',
  options: {
    state: { value: 'STATES', about: `${JOB_STATES.join(', ')}; several with commas` },
    queue: { value: 'NAMES', about: 'only of these queues' },
    type: { value: 'TYPES', about: 'only of these types' },
    ...PAGE_OPTIONS,
  },
  run: async ({ values: { state, queue, type, ...page } }, context) => {
    const filter = {
      ...(state !== undefined && { states: readListOf('--state', state, JOB_STATES) }),
      ...(queue !== undefined && { queues: readList('--queue', queue) }),
      ...(type !== undefined && { types: readList('--type', type) }),
    };
    const query = readPage(page);
    const { jobs } = await context.connect();
    showJobs(await jobs.list({ ...query, filter }), query.limit, context);
    return 0;
  },
});
