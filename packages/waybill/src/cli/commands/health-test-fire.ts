import { WaybillError } from '@waybill/core';
import { alertsIn } from '../../config/alerts-in.ts';
import { command } from '../command.ts';
import { LOG_OPTION } from '../command-logger.ts';
import { readTargets } from '../open-webhooks.ts';
import { SERVE_OPTIONS } from '../serve-options.ts';
import { table } from '../table.ts';
import { version } from '../version.ts';

export const healthTestFire = command({
  name: 'health test-fire',
  section: 'Care',
  summary: 'send a test alert through each sink; exit 1 when one failed',
  usesStore: false,
  readsConfig: true,
  options: {
    'webhook-target': SERVE_OPTIONS['webhook-target'],
    'allow-private-webhooks': SERVE_OPTIONS['allow-private-webhooks'],
    ...LOG_OPTION,
  },
  notes: `Reads the section alerts of the configuration file, and the variables WAYBILL_SLACK_TOKEN, WAYBILL_SLACK_CHANNEL,
WAYBILL_SLACK_WEBHOOK, WAYBILL_ALERT_WEBHOOK and WAYBILL_ALERT_WEBHOOK_SECRET. Nothing is kept of the alert.`,
  run: async ({ values }, context) => {
    const { testFire } = await import('@waybill/server');
    const { commandLogger } = await import('../command-logger.ts');
    const fired = await testFire({
      ...{ alerts: alertsIn(context.config?.options.alerts, context.io.env), version: version(), clock: context.clock },
      ...{ ...readTargets(values, context.io.env), logger: await commandLogger(values, context.io) },
    });
    if (fired.length === 0) {
      throw new WaybillError('not_found', 'No sink of alerts is set up.', {
        hint: 'Add a section alerts to the configuration file; docs/health.md begins with an example.',
      });
    }
    context.show({ alerts: fired }, () =>
      table(
        fired,
        [
          { title: 'SINK', of: ({ sink }) => sink },
          { title: 'RESULT', of: ({ ok }) => (ok ? 'ok' : 'fail'), paint: context.style.state },
          { title: 'TOOK', of: ({ ms }) => `${ms} ms`, align: 'right' },
          { title: 'WHY', of: ({ error }) => error ?? '' },
        ],
        context,
      ),
    );
    return fired.every(({ ok }) => ok) ? 0 : 1;
  },
});
