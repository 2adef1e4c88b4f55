import { toRfc3339 } from '@waybill/client';
import { command, misuse } from '../command.ts';
import { openWebhook, TARGET_OPTIONS } from '../open-webhooks.ts';
import { readPast, readText } from '../read-value.ts';
import { span } from '../spans.ts';

export const webhooksTest = command({
  name: 'webhooks test',
  section: 'Care',
  summary: 'send a test event now; exit 1 when it fails',
  args: 'ID',
  options: TARGET_OPTIONS,
  run: async ({ args: [text = ''], values }, context) => {
    const { webhooks, id } = await openWebhook(context, text, { values });
    const test = await webhooks.test(id);
    const { ok, status, error, ms } = test;
    const answered = status === undefined ? 'no answer' : `answered ${status}`;
    context.show({ test }, () => `${id} ${answered} in ${span(ms)}${error === undefined ? '' : `: ${error}`}\n`);
    return ok ? 0 : 1;
  },
});

export const webhooksRedeliver = command({
  name: 'webhooks redeliver',
  section: 'Care',
  summary: 'send events again, under the same ids',
  args: 'ID',
  options: {
    since: { value: 'WHEN', about: 'all from then on: 1h, 2d, 2030-01-31 or 2030-01-31T12:00:00Z' },
    event: { value: 'EVENT-ID', about: 'this one, by the id in its body' },
    ...TARGET_OPTIONS,
  },
  run: async ({ args: [text = ''], values }, context) => {
    const { since, event } = values;
    if ((since === undefined) === (event === undefined))
      throw misuse("'waybill webhooks redeliver' needs --since or --event, and not both.");
    const from =
      since === undefined
        ? { event_id: readText('--event', event!) }
        : { since: toRfc3339(readPast('--since', since, context.io.now())) };
    const { webhooks, id } = await openWebhook(context, text, { values });
    const webhook = await webhooks.redeliver(id, from);
    const what = 'since' in from ? `everything since ${from.since} is sent again` : `${from.event_id} was sent again`;
    context.show({ webhook }, () => `${id}: ${what}\n`);
    return 0;
  },
});
