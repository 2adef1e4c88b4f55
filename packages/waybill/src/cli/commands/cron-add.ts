import { cronToWire, toRfc3339 } from '@waybill/client';
import { type CronRequest, MISFIRE_POLICIES, OVERLAP_POLICIES } from '@waybill/core';
import { command, misuse } from '../command.ts';
import { REQUEST_OPTIONS, readRequest } from '../job-request.ts';
import { readInteger, readListOf } from '../read-value.ts';

export const cronAdd = command({
  name: 'cron add',
  section: 'Schedules and workflows',
  summary: 'create a schedule, or replace the one with this name',
  args: 'NAME EXPRESSION [ARGS-JSON…]',
  options: {
    type: { value: 'TYPE', about: 'type of the jobs that it makes; required' },
    ...REQUEST_OPTIONS,
    timezone: { value: 'ZONE', about: 'of the IANA database, like Europe/Berlin', default: 'UTC' },
    overlap: {
      value: 'POLICY',
      about: `${OVERLAP_POLICIES.join(', ')}: while the last job has not finished`,
      default: 'skip',
    },
    misfire: {
      value: 'POLICY',
      about: `${MISFIRE_POLICIES.join(', ')}: after ticks that were missed`,
      default: 'run_once',
    },
    'catch-up-limit': { value: 'N', about: 'missed ticks that catch_up makes up for', default: '10' },
    description: { value: 'TEXT', about: 'for people' },
    paused: { about: 'create it without letting it fire' },
  },
  notes: `The expression is five fields in quotes, or a name:

  waybill cron add report '0 9 * * MON-FRI' --type report.make
  waybill cron add cleanup @daily --type files.clean '{"days":7}'`,
  run: async ({ args: [name = '', expression = '', ...args], values }, context) => {
    const { type, timezone, overlap, misfire, description, 'catch-up-limit': limit } = values;
    if (type === undefined) throw misuse("'waybill cron add' needs --type.");
    const request: CronRequest = {
      name,
      expression,
      ...(timezone !== undefined && { timezone }),
      ...(overlap !== undefined && { overlap_policy: readListOf('--overlap', overlap, OVERLAP_POLICIES)[0]! }),
      ...(misfire !== undefined && { misfire_policy: readListOf('--misfire', misfire, MISFIRE_POLICIES)[0]! }),
      ...(limit !== undefined && { catch_up_limit: readInteger('--catch-up-limit', limit) }),
      ...(description !== undefined && { description }),
      ...(values.paused && { enabled: false }),
      job_template: readRequest(type, args, values),
    };
    const { crons } = await context.connect({ create: true });
    const cron = await crons.put(request);
    const next = cron.nextAt === null ? 'is paused' : `fires next at ${toRfc3339(cron.nextAt)}`;
    context.show({ cron: cronToWire(cron) }, () => `${cron.name} ${next}\n`);
    return 0;
  },
});
