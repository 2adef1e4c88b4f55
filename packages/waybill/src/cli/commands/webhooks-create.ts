import { command } from '../command.ts';
import { openWebhooks, TARGET_OPTIONS } from '../open-webhooks.ts';
import { readList, readText } from '../read-value.ts';
import { shownUrl } from '../webhook-text.ts';

export const webhooksCreate = command({
  name: 'webhooks create',
  section: 'Care',
  summary: 'send events to an address; prints its secret once',
  args: 'URL',
  options: {
    events: { value: 'TYPES', about: 'such as job.discarded,workflow.*', default: 'job.*' },
    queues: { value: 'NAMES', about: 'only events of these queues and their jobs' },
    types: { value: 'TYPES', about: 'only events of jobs of these types' },
    description: { value: 'TEXT', about: 'for people' },
    paused: { about: 'create it without sending anything' },
    ...TARGET_OPTIONS,
  },
  notes: `The last line is the secret, by which the receiver checks each event: see
docs/webhooks.md.

  waybill webhooks create https://example.com/hooks --events job.discarded`,
  run: async ({ args: [url = ''], values }, context) => {
    const { events, queues, types, description } = values;
    const webhooks = await openWebhooks(context, { create: true, values });
    const { webhook, secret } = await webhooks.create({
      url,
      ...(events !== undefined && { events: readList('--events', events) }),
      ...(queues !== undefined && { queues: readList('--queues', queues) }),
      ...(types !== undefined && { job_types: readList('--types', types) }),
      ...(description !== undefined && { description: readText('--description', description) }),
      ...(values.paused && { paused: true }),
    });
    context.show(
      { webhook, secret },
      () =>
        `${webhook.id} sends ${webhook.events.join(', ')} to ${shownUrl(webhook)}\n\nKeep the secret now, it is not shown again:\n`,
    );
    // Never broken into lines, however narrow the terminal is.
    if (!context.isJson) context.io.stdout.write(`${secret}\n`);
    return 0;
  },
});
