import { command } from '../command.ts';
import { DEAD_FILTERS, readDeadFilter } from '../dead-filter.ts';
import { queuesOnly } from '../dead-messages.ts';
import { showJobs } from '../job-table.ts';
import { PAGE_OPTIONS, readPage } from '../page-options.ts';
import { TRANSPORT } from '../serve-options.ts';

export const deadList = command({
  name: 'dead list',
  section: 'Jobs',
  summary: 'list dead letters: jobs that were given up and kept for repair',
  options: { ...DEAD_FILTERS, ...PAGE_OPTIONS, transport: TRANSPORT },
  notes: `With an sqs:// transport it also lists messages that wait for people: what was received three times and never
deleted, and what foreign producers sent that could not be made a job.`,
  run: async ({ values }, context) => {
    const filter = readDeadFilter(values, context.io.now());
    const page = readPage(values);
    const { deadLetters } = await context.connect(
      values.transport === undefined ? {} : { transport: values.transport },
    );
    const found = await deadLetters.list({ ...page, filter });
    const queues = queuesOnly(filter);
    // Messages have no pages: they come with the first one.
    const isFirst = page.cursor === undefined && queues !== null;
    const messages = isFirst ? await deadLetters.messages?.list({ ...queues, limit: page.limit }) : undefined;
    showJobs(found, page.limit, context, { withErrors: true, ...(messages && { messages }) });
    return 0;
  },
});
