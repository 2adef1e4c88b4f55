import { command } from '../command.ts';
import { openWebhook } from '../open-webhooks.ts';
import { readSpan } from '../read-value.ts';

const gate = (verb: 'pause' | 'resume', summary: string) =>
  command({
    name: `webhooks ${verb}`,
    section: 'Care',
    summary,
    args: 'ID',
    run: async ({ args: [text = ''] }, context) => {
      const { webhooks, id } = await openWebhook(context, text);
      const webhook = await webhooks[verb](id);
      context.show({ webhook }, () => `${id} is ${verb === 'pause' ? 'paused' : 'resumed'}\n`);
      return 0;
    },
  });

export const webhooksPause = gate('pause', 'send nothing until it is resumed');
export const webhooksResume = gate('resume', 'go on where a webhook stopped');

export const webhooksRotateSecret = command({
  name: 'webhooks rotate-secret',
  section: 'Care',
  summary: 'make a new secret, and print it once',
  args: 'ID',
  options: { 'keep-old': { value: 'SPAN', about: 'how long the old secret signs too', default: '1d' } },
  run: async ({ args: [text = ''], values }, context) => {
    const keepOld = values['keep-old'];
    const keepOldMs = keepOld === undefined ? undefined : readSpan('--keep-old', keepOld);
    const { webhooks, id } = await openWebhook(context, text);
    const { webhook, secret } = await webhooks.rotateSecret(id, keepOldMs === undefined ? {} : { keepOldMs });
    const until = keepOldMs === 0 ? 'the old one counts no more' : `the old one signs too for ${keepOld ?? '1d'}`;
    context.show({ webhook, secret }, () => `${id} has a new secret; ${until}\n`);
    if (!context.isJson) context.io.stdout.write(`${secret}\n`);
    return 0;
  },
});

export const webhooksRemove = command({
  name: 'webhooks remove',
  section: 'Care',
  summary: 'remove a webhook',
  args: 'ID',
  run: async ({ args: [text = ''] }, context) => {
    const { webhooks, id } = await openWebhook(context, text);
    const webhook = await webhooks.remove(id);
    context.show({ deleted: true, id, webhook }, () => `${id} is removed\n`);
    return 0;
  },
});
