import type { Json, JsonObject } from '@waybill/core';
import type { Alert } from './alert.ts';

/** Bounds of Slack's blocks. */
const LONGEST_HEADER = 150;
const LONGEST_FIELD = 2_000;
const MOST_FIELDS = 10;
const MOST_SHOWN = 60;

const SIGN = {
  low: ':information_source:',
  warning: ':warning:',
  high: ':warning:',
  critical: ':red_circle:',
} as const;

/** What a channel shows of an alert: the blocks, and a text for notifications. */
export function slackMessage(alert: Alert): { text: string; blocks: JsonObject[] } {
  const { kind, title, severity } = alert;
  const [sign, verb] = kind === 'closed' ? [':white_check_mark:', 'Resolved: '] : [SIGN[severity], ''];
  const again = kind === 'escalated' ? 'Escalated: ' : verb;
  return {
    // This one is read as mrkdwn, where a title could name a channel or a link.
    text: `${sign} ${escaped(`${again}${title}`)}`,
    blocks: [
      { type: 'header', text: plain(`${sign} ${again}${title}`, LONGEST_HEADER) },
      { type: 'section', fields: fieldsOf(alert).slice(0, MOST_FIELDS) },
    ],
  };
}

function fieldsOf({ severity, tenant, queue, check, incident, facts, openedAt }: Alert): JsonObject[] {
  const named: [string, Json | undefined][] = [
    ['Severity', severity],
    ['Tenant', tenant || undefined],
    ['Queue', queue],
    ['Check', check],
    ['Since', openedAt],
    ...Object.entries(facts).map(([name, value]): [string, Json] => [labelOf(name), shown(name, value)]),
    ['Incident', incident],
  ];
  return named.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [plain(`${name}: ${String(value)}`, LONGEST_FIELD)],
  );
}

const labelOf = (name: string): string => {
  const words = name.replace(/_ms$/, '').replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

/** Spans in minutes, as the people on call think of them. */
function shown(name: string, value: Json): Json {
  if (name.endsWith('_ms') && typeof value === 'number') return `${Math.floor(value / 6_000) / 10} min`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN - 1)}…`;
}

const plain = (text: string, max: number): JsonObject => ({
  ...{ type: 'plain_text', emoji: true },
  text: text.length <= max ? text : `${text.slice(0, max - 1)}…`,
});

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
