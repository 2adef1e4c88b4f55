import { type IncidentSeverity, type Logger, type Sink, SYSTEM_TENANT } from '@waybill/core';
import { checkAnswer, send, type WebhookOptions } from '../webhooks/webhook-sink.ts';
import { type Alert, alertOf, OF_INCIDENTS } from './alert.ts';

interface WebhookParts extends WebhookOptions {
  from: IncidentSeverity;
}

/** The event of the incident, as every webhook gets it. */
export function webhookAlertSink({ url, secret }: { url: string; secret?: string }, parts: WebhookParts): Sink {
  const secrets = secret === undefined ? [] : [{ secret }];
  const webhook = { url, secrets, events: [], paused: false };
  const { clock, from } = parts;
  return {
    ...{ tenant: SYSTEM_TENANT, id: 'alerts-webhook', ...OF_INCIDENTS },
    target: { kind: 'webhook', host: new URL(url).hostname },
    deliver: async ({ event }, signal) => {
      if (alertOf(event, { from, now: clock.now() }) === null) return;
      checkAnswer(await send(webhook, event, parts, signal), clock);
    },
  };
}

interface LogParts {
  from: IncidentSeverity;
  logger: Logger;
  clock: WebhookParts['clock'];
}

/** A line in the log of the server that delivers. */
export function logAlertSink({ from, logger, clock }: LogParts): Sink {
  return {
    ...{ tenant: SYSTEM_TENANT, id: 'alerts-log', ...OF_INCIDENTS, target: { kind: 'log' } },
    deliver: async ({ event }) => {
      const alert = alertOf(event, { from, now: clock.now() });
      if (alert === null) return;
      const { incident, tenant, severity, kind, title } = alert;
      logger[levelOf(alert)]({ incident, tenant, severity }, `Incident ${kind}: ${title}`);
    },
  };
}

function levelOf({ kind, severity }: Alert): 'info' | 'warn' | 'error' {
  if (kind === 'closed') return 'info';
  return severity === 'critical' ? 'error' : 'warn';
}
