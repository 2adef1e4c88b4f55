import { workflowToWire } from '@waybill/client';
import { WORKFLOW_STATES } from '@waybill/core';
import { command } from '../command.ts';
import { moreLine, pagination } from '../job-table.ts';
import { PAGE_OPTIONS, readPage } from '../page-options.ts';
import { readListOf } from '../read-value.ts';
import { shortIds } from '../short-ids.ts';
import { away } from '../spans.ts';
import { table } from '../table.ts';

export const workflowsList = command({
  name: 'workflows list',
  section: 'Schedules and workflows',
  summary: 'list workflows, newest first',
  options: {
    state: { value: 'STATES', about: `${WORKFLOW_STATES.join(', ')}; several with commas` },
    ...PAGE_OPTIONS,
  },
  run: async ({ values: { state, ...values } }, context) => {
    const page = readPage(values);
    const states = state === undefined ? undefined : readListOf('--state', state, WORKFLOW_STATES);
    const { workflows } = await context.connect();
    const { items, cursor } = await workflows.list({ ...page, ...(states && { states }) });
    const { style, io } = context;
    const document = { workflows: items.map(workflowToWire), pagination: pagination(page.limit, cursor) };
    const shown = shortIds(
      items.map(({ id }) => id),
      context,
    );
    const text = () =>
      table(
        items,
        [
          { title: 'ID', of: ({ id }) => shown(id) },
          { title: 'NAME', of: ({ name }) => name ?? '-', least: 10 },
          { title: 'TYPE', of: ({ type }) => type },
          { title: 'STATE', of: ({ state: its }) => its, paint: style.state },
          { title: 'JOBS', of: ({ total }) => String(total), align: 'right', spare: 1 },
          { title: 'CREATED', of: ({ createdAt }) => away(createdAt, io.now()) },
        ],
        context,
      );
    context.show(document, () => (items.length === 0 ? 'No workflows.\n' : text()) + moreLine(cursor, context));
    return 0;
  },
});
