import { command } from '../command.ts';
import { DEAD_FILTERS, readDeadFilter } from '../dead-filter.ts';
import { showJobs } from '../job-table.ts';
import { PAGE_OPTIONS, readPage } from '../page-options.ts';

export const deadList = command({
  name: 'dead list',
  section: 'Jobs',
  summary: 'list dead letters: jobs that were given up and kept for repair',
  options: { ...DEAD_FILTERS, ...PAGE_OPTIONS },
  run: async ({ values }, context) => {
    const filter = readDeadFilter(values, context.io.now());
    const page = readPage(values);
    const { deadLetters } = await context.connect();
    showJobs(await deadLetters.list({ ...page, filter }), page.limit, context, { withErrors: true });
    return 0;
  },
});
