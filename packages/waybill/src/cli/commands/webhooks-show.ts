import { command } from '../command.ts';
import { openWebhook } from '../open-webhooks.ts';
import { pairs } from '../table.ts';
import { webhookPairs } from '../webhook-text.ts';

export const webhooksShow = command({
  name: 'webhooks show',
  section: 'Care',
  summary: 'show what a webhook gets, and how that goes',
  args: 'ID',
  run: async ({ args: [text = ''] }, context) => {
    const { webhooks, id } = await openWebhook(context, text);
    const webhook = await webhooks.get(id);
    context.show({ webhook }, () => pairs(webhookPairs(webhook, context), context));
    return 0;
  },
});
