import { invalidField, type JournalReadQuery, STREAMS, type Stream } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { Query } from '../http/query.ts';

const FILTERS = ['run', 'from_sequence', 'from_time', 'types', 'cursor'] as const;
/** What only makes sense for some forms of the answer. */
const ONLY_FOR = {
  limit: ['json'],
  lifecycle: ['sse'],
  stay: ['sse', 'text'],
  follow: ['sse', 'text'],
  stream: ['text'],
} as const satisfies Record<string, readonly JournalForm[]>;
const LARGEST_RUN = 2 ** 31 - 1;
const DEFAULT_LIMIT = 1_000;

const MEDIA_TYPES = { json: 'application/json', sse: 'text/event-stream', text: 'text/plain' } as const;
export type JournalForm = keyof typeof MEDIA_TYPES;

/** What a request wants to have of a journal, and how. */
export interface JournalAsked {
  form: JournalForm;
  filter: Omit<JournalReadQuery, 'tenant' | 'limit'>;
  limit: number;
  follow: boolean;
  lifecycle: boolean;
  stay: boolean;
  stream: Stream | undefined;
}

export function journalAsked(c: Ctx): JournalAsked {
  const query = new Query(c, [...FILTERS, ...Object.keys(ONLY_FOR)]);
  const form = c.req.method === 'HEAD' ? 'json' : formOf(c.req.header('Accept') ?? '');
  for (const [name, forms] of Object.entries(ONLY_FOR))
    if (query.joined(name) !== undefined && !(forms as readonly JournalForm[]).includes(form))
      throw invalidField(name, `is for ${forms.map((one) => MEDIA_TYPES[one]).join(' or ')}: ask for it by Accept.`);
  const isOn = (name: string): boolean | undefined => {
    const said = query.oneOf(name, ['true', 'false']);
    return said === undefined ? undefined : said === 'true';
  };
  const follow = isOn('follow') ?? form === 'sse';
  if (form === 'sse' && !follow) throw invalidField('follow', 'cannot be false for an event stream, which follows.');
  const stay = isOn('stay') ?? false;
  if (stay && !follow) throw invalidField('stay', "needs 'follow=true'.");
  const filter = filterOf(c, query, form);
  if (form === 'text' && filter.types) throw invalidField('types', 'is not for text/plain, which has output alone.');
  return {
    ...{ form, filter, follow, stay, limit: query.limit(DEFAULT_LIMIT) },
    ...{ lifecycle: isOn('lifecycle') ?? false, stream: query.oneOf('stream', STREAMS) },
  };
}

function filterOf(c: Ctx, query: Query, form: JournalForm): JournalAsked['filter'] {
  const run = query.integer('run', { min: 1, max: LARGEST_RUN });
  const fromSequence = query.integer('from_sequence', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const fromTime = timeOf(query);
  const types = query.list('types');
  // A browser that reconnects asks for the same address again, so what it has seen must beat what the address says.
  const seen = form === 'sse' ? c.req.header('Last-Event-ID') || undefined : undefined;
  const cursor = seen ?? query.string('cursor', { max: 4_096 });
  return {
    ...(run !== undefined && { run }),
    ...(fromSequence !== undefined && { fromSequence }),
    ...(fromTime !== undefined && { fromTime }),
    ...(types && { types }),
    ...(cursor !== undefined && { cursor }),
  };
}

/** RFC 3339, or milliseconds since 1970. */
function timeOf(query: Query): number | undefined {
  const isCount = /^\d+$/.test(query.joined('from_time') ?? '');
  const from = isCount
    ? query.integer('from_time', { min: 0, max: Number.MAX_SAFE_INTEGER })
    : query.moment('from_time');
  return from === undefined ? undefined : Math.max(0, from);
}

/** The form that the client likes best. Many clients list several, and one that is content with anything gets JSON. */
function formOf(accept: string): JournalForm {
  const liked = accept
    .toLowerCase()
    .split(',')
    .map((item) => {
      const [type = '', ...parameters] = item.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return { form: FORMS[type], weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
    })
    .filter(({ form, weight }) => form !== undefined && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return liked[0]?.form ?? 'json';
}

const FORMS: Readonly<Record<string, JournalForm>> = {
  'application/json': 'json',
  'application/openjobspec+json': 'json',
  'application/*': 'json',
  '*/*': 'json',
  'text/event-stream': 'sse',
  'text/plain': 'text',
};
