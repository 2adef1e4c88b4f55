import { cronToWire } from '@waybill/client';
import { command } from '../command.ts';
import { away } from '../spans.ts';
import { table } from '../table.ts';

export const cronList = command({
  name: 'cron list',
  section: 'Schedules and workflows',
  summary: 'list the schedules',
  run: async (_, context) => {
    const { crons } = await context.connect();
    const all = await crons.list();
    const { style, io } = context;
    const at = (moment: number | null) => (moment === null ? '-' : away(moment, io.now()));
    context.show({ crons: all.map(cronToWire), count: all.length }, () =>
      all.length === 0
        ? 'No schedules.\n'
        : table(
            all,
            [
              { title: 'NAME', of: ({ name }) => name, least: 10 },
              { title: 'EXPRESSION', of: ({ expression }) => expression, least: 14 },
              { title: 'TIMEZONE', of: ({ timezone }) => timezone, least: 8, spare: 2 },
              { title: 'TYPE', of: ({ template }) => String(template['type']), least: 10 },
              { title: 'STATUS', of: ({ enabled }) => (enabled ? 'active' : 'paused'), paint: style.state },
              { title: 'NEXT', of: ({ nextAt }) => at(nextAt) },
              { title: 'LAST', of: ({ lastAt }) => at(lastAt), spare: 3 },
              { title: 'RUNS', of: ({ runs }) => String(runs), align: 'right', spare: 1 },
            ],
            context,
          ),
    );
    return 0;
  },
});
