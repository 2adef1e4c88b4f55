import { checkNames, INCIDENT_SEVERITIES, type IncidentSeverity, invalidField } from '@waybill/core';
import { checkTarget, type TargetPolicy, webhookRanges } from '../webhooks/target.ts';

export interface SlackOptions {
  /** Of a bot that may write (`chat:write`). With it a thread tells what becomes of an incident. */
  token?: string;
  /** The channel that the bot writes to, by its id or name. */
  channel?: string;
  /** The address of an incoming webhook, in place of a bot. */
  webhookUrl?: string;
  /** @defaultValue 'https://slack.com/api/' */
  api?: string;
}

export interface AlertOptions {
  /** Incidents that are milder than this are told to nobody. @defaultValue 'warning' */
  from?: IncidentSeverity;
  /** @defaultValue none */
  slack?: SlackOptions;
  /** Any receiver of webhooks. With a secret it is signed as other webhooks are. @defaultValue none */
  webhook?: { url: string; secret?: string };
  /** Lines in the log of the server that delivers. @defaultValue false */
  log?: boolean;
}

const SLACK_API = 'https://slack.com/api/';
const TOKEN = /^[\x21-\x7e]{1,512}$/;

/** How Slack is reached. */
export type SlackTarget = { token: string; channel: string; api: string } | { webhookUrl: string };

export interface CheckedAlerts {
  from: IncidentSeverity;
  slack?: SlackTarget;
  webhook?: { url: string; secret?: string };
  log: boolean;
}

/** Where alerts may go besides the internet, as webhooks. */
export interface AlertTargets {
  /** Allow receivers in private ranges, and plain http. @defaultValue false */
  allowPrivate?: boolean;
  /** Allow receivers at these addresses and in these ranges, over plain http too. @defaultValue [] */
  targets?: readonly string[];
}

export const policyOf = ({ allowPrivate = false, targets = [] }: AlertTargets): TargetPolicy => ({
  allowPrivate,
  ranges: webhookRanges(targets),
});

/** Refuses what could not work. No refusal repeats a token or an address. */
export function checkAlerts(options: AlertOptions, targets: AlertTargets = {}): CheckedAlerts {
  const policy = policyOf(targets);
  checkNames("The option 'alerts'", options, ['from', 'slack', 'webhook', 'log']);
  const { from = 'warning', slack, webhook, log = false } = options;
  if (!INCIDENT_SEVERITIES.includes(from)) {
    throw invalidField('alerts.from', `must be one of ${INCIDENT_SEVERITIES.join(', ')}.`);
  }
  if (typeof log !== 'boolean') throw invalidField('alerts.log', 'must be true or false.');
  if (webhook !== undefined) {
    checkNames("The option 'alerts.webhook'", webhook, ['url', 'secret']);
    checkTarget(webhook.url, policy, 'alerts.webhook.url');
  }
  return { from, log, ...(slack && { slack: checkSlack(slack, policy) }), ...(webhook && { webhook }) };
}

function checkSlack(slack: SlackOptions, policy: TargetPolicy): SlackTarget {
  checkNames("The option 'alerts.slack'", slack, ['token', 'channel', 'webhookUrl', 'api']);
  const { token, channel, webhookUrl, api = SLACK_API } = slack;
  if (webhookUrl !== undefined) {
    if (token !== undefined || channel !== undefined) {
      throw invalidField('alerts.slack', 'takes a token with a channel, or the address of a webhook, and not both.');
    }
    checkTarget(webhookUrl, policy, 'alerts.slack.webhookUrl');
    return { webhookUrl };
  }
  if (token === undefined) throw invalidField('alerts.slack.token', 'is required, or else alerts.slack.webhookUrl.');
  if (!TOKEN.test(token)) throw invalidField('alerts.slack.token', 'must be a token such as xoxb-..');
  if (channel === undefined || !TOKEN.test(channel)) {
    throw invalidField('alerts.slack.channel', 'must name the channel that the bot writes to.');
  }
  const base = api.endsWith('/') ? api : `${api}/`;
  checkTarget(base, policy, 'alerts.slack.api');
  return { token, channel, api: base };
}
