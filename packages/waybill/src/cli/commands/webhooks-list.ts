import type { WireWebhook } from '@waybill/client';
import { command } from '../command.ts';
import { openWebhooks } from '../open-webhooks.ts';
import { table } from '../table.ts';
import { shownUrl } from '../webhook-text.ts';

const PAGE = 1_000;

export const webhooksList = command({
  name: 'webhooks list',
  section: 'Care',
  summary: 'list the webhooks and how their delivery stands',
  run: async (_, context) => {
    const webhooks = await openWebhooks(context);
    const all: WireWebhook[] = [];
    let cursor: string | undefined;
    do {
      const page = await webhooks.list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
      all.push(...page.webhooks);
      cursor = page.cursor;
    } while (cursor !== undefined);
    context.show({ webhooks: all, count: all.length }, () =>
      all.length === 0
        ? 'No webhooks.\n'
        : table(
            all,
            [
              { title: 'ID', of: ({ id }) => id, least: 19 },
              { title: 'URL', of: shownUrl, least: 16 },
              { title: 'EVENTS', of: ({ events }) => events.join(','), least: 6, spare: 2 },
              { title: 'STATUS', of: ({ state }) => state.status, paint: context.style.state },
              { title: 'DELIVERED', of: ({ state }) => String(state.delivered), align: 'right', spare: 1 },
              { title: 'LAST ERROR', of: ({ state }) => errorOf(state), least: 10, spare: 3 },
            ],
            context,
          ),
    );
    return 0;
  },
});

/** One that was delivered since is of no interest here. */
const errorOf = ({ status, last_error }: WireWebhook['state']): string =>
  status === 'active' ? '-' : (last_error ?? '-');
