import { CHECK_NAMES, INCIDENT_SEVERITIES } from '@waybill/core';
import type { ConfigKey } from './config-key.ts';
import { choice, listOf, onOrOff, span, text, whole } from './kinds.ts';

const COUNT = whole(0, 10_000);

/** A warning and what is critical, for one kind of check. */
const levels = (path: string, [warning, critical]: readonly [string, string], what: string): ConfigKey[] => [
  {
    ...{ path: `health.${path}.warning`, kind: span, option: `engine.health.${path}.warningMs`, default: warning },
    about: `${what}: above this it is a warning`,
  },
  {
    ...{ path: `health.${path}.critical`, kind: span, option: `engine.health.${path}.criticalMs`, default: critical },
    about: `${what}: above this it is critical`,
  },
];

/** Of single types of jobs or queues: as for all where nothing is said. */
const own = (keys: readonly ConfigKey[]): ConfigKey[] => keys.map(({ default: _, ...key }) => key);

const overtime = (path: string): ConfigKey => ({
  ...{ path: `health.${path}.overtime`, kind: span, option: `engine.health.${path}.overtimeMs`, default: '1h' },
  about: 'a run that goes on for longer is critical, whatever its heartbeats',
});

export const HEALTH_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'health.rounds', kind: onOrOff, option: 'engine.health.rounds', default: 'true' },
    about: 'look at everything again and again, and keep incidents',
  },
  {
    ...{ path: 'health.every', kind: span, option: 'engine.health.everyMs', default: '5m' },
    about: 'from one look to the next, on whichever server',
  },
  {
    ...{ path: 'health.off', kind: listOf(...CHECK_NAMES), option: 'engine.health.off', default: 'none' },
    about: 'checks that are not run',
  },
  ...levels('jobs', ['5m', '10m'], 'since the last sign of life of a run'),
  overtime('jobs'),
  ...own([...levels('tasks.*', ['', ''], 'the same for one type of jobs'), overtime('tasks.*')]),
  ...levels('queueAge', ['5m', '30m'], 'how long the next job of a queue has waited'),
  ...own(levels('queues.*', ['', ''], 'the same for one queue')),
  {
    ...{ path: 'health.deadLetters.warning', kind: COUNT, option: 'engine.health.deadLetters.warning', default: '0' },
    about: 'more dead letters of a tenant are a warning',
  },
  {
    ...{ path: 'health.deadLetters.critical', kind: COUNT, option: 'engine.health.deadLetters.critical' },
    ...{ default: '100', about: 'more dead letters of a tenant are critical' },
  },
  ...levels('lateCrons', ['1m', '10m'], 'how late a schedule is'),
  ...levels('sinkLag', ['5m', '1h'], 'age of the oldest event that a sink has not delivered'),
  {
    ...{ path: 'health.liveWorkers.none', kind: span, option: 'engine.health.liveWorkers.noneMs', default: '1m' },
    about: 'jobs that wait for longer while no worker is live are critical',
  },
  {
    ...{ path: 'health.liveWorkers.unserved', kind: span, option: 'engine.health.liveWorkers.unservedMs' },
    ...{ default: '5m', about: 'jobs that wait for longer in a queue where none runs are a warning' },
  },
  ...levels('sweepLag', ['30s', '5m'], 'how far maintenance is behind'),
  ...levels('clockSkew', ['5s', '1m'], 'how far the clocks of servers differ'),
];

export const ALERT_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'alerts.from', kind: choice(...INCIDENT_SEVERITIES), option: 'alerts.from', default: 'warning' },
    about: 'incidents that are milder send no alert',
  },
  {
    ...{ path: 'alerts.slack.token', kind: text, env: 'WAYBILL_SLACK_TOKEN', secret: true },
    about: 'of the bot that writes to Slack',
  },
  {
    ...{ path: 'alerts.slack.channel', kind: text, env: 'WAYBILL_SLACK_CHANNEL' },
    about: 'the channel that the bot writes to',
  },
  {
    ...{ path: 'alerts.slack.webhook', kind: text, env: 'WAYBILL_SLACK_WEBHOOK', secret: true },
    about: 'an incoming webhook of Slack, in place of a bot',
  },
  {
    ...{ path: 'alerts.webhook.url', kind: text, env: 'WAYBILL_ALERT_WEBHOOK', secret: true },
    about: 'any receiver of webhooks',
  },
  {
    ...{ path: 'alerts.webhook.secret', kind: text, env: 'WAYBILL_ALERT_WEBHOOK_SECRET', secret: true },
    about: 'what its deliveries are signed with',
  },
  {
    ...{ path: 'alerts.log', kind: onOrOff, option: 'alerts.log', default: 'false' },
    about: 'write incidents to the log of the server',
  },
];
