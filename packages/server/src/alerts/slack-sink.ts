import { type IncidentSeverity, type Sink, SYSTEM_TENANT } from '@waybill/core';
import { alertOf, OF_INCIDENTS } from './alert.ts';
import type { SlackTarget } from './alert-options.ts';
import type { AlertThreads, Thread } from './alert-threads.ts';
import { type SlackParts, sendToSlack } from './slack-api.ts';
import { slackMessage } from './slack-message.ts';

const ID = 'alerts-slack';

export interface SlackSinkParts extends SlackParts {
  from: IncidentSeverity;
  threads: Pick<AlertThreads, 'of' | 'note'>;
}

/** One message per incident. What becomes of it stands in the thread of that message, where a bot has sent it. */
export function slackSink(slack: SlackTarget, parts: SlackSinkParts): Sink {
  const { threads, clock, from } = parts;
  return {
    ...{ tenant: SYSTEM_TENANT, id: ID, ...OF_INCIDENTS, target: targetOf(slack) },
    deliver: async ({ id, event }, signal) => {
      const alert = alertOf(event, { from, now: clock.now() });
      if (alert === null) return;
      const place = { sink: ID, tenant: alert.tenant, incident: alert.incident };
      const known = await threads.of(place);
      // Told before, by a server that could not note how far it was.
      if (known?.told === id) return;
      const thread = alert.kind === 'opened' ? null : known;
      // Nobody was told that it began.
      if (alert.kind === 'closed' && thread === null) return;
      const ts = await sendToSlack(
        slack,
        { ...slackMessage(alert), ...inThread(slack, thread, alert.kind) },
        parts,
        signal,
      );
      const root = thread?.ts ?? ts;
      await threads.note(place, { told: id, ...(root !== undefined && { ts: root }) }, clock.now());
    },
  };
}

const targetOf = (slack: SlackTarget): NonNullable<Sink['target']> => ({
  ...{ kind: 'slack', host: new URL('token' in slack ? slack.api : slack.webhookUrl).hostname },
});

/** What became worse is shown in the channel too. */
function inThread(slack: SlackTarget, thread: Thread | null, kind: string) {
  if (!('token' in slack) || thread?.ts === undefined) return {};
  return { thread_ts: thread.ts, ...(kind === 'escalated' && { reply_broadcast: true }) };
}
