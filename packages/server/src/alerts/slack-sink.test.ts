import { engine, type JsonObject, type LoggedEvent, SinkRefusal, silentLogger } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fakeSlack, slackSays } from '../testing/slack.ts';
import type { SlackTarget } from './alert-options.ts';
import { AlertThreads } from './alert-threads.ts';
import { slackSink } from './slack-sink.ts';

const TOKEN = 'xoxb-the-secret-token';
const VALUE = { title: "Queue 'mail' waits.", severity: 'warning', status: 'open', check: 'queue-age', queue: 'mail' };

async function made(kind: 'bot' | 'webhook' = 'bot', timeoutMs = 5_000) {
  const slack = await fakeSlack();
  const clock = new TestClock();
  const waybill = engine({ store: memoryStore({ clock }), logger: silentLogger, maintenance: false });
  onTestFinished(() => waybill.close());
  const target: SlackTarget =
    kind === 'bot' ? { token: TOKEN, channel: 'C1', api: slack.api } : { webhookUrl: slack.webhookUrl };
  const sink = slackSink(target, {
    ...{ clock, version: '1.2.3', allowPrivate: true, timeoutMs, from: 'warning' },
    ...{ resolve: async () => [], threads: new AlertThreads(waybill.records) },
  });
  let sequence = 0;
  const event = (type: 'opened' | 'escalated' | 'closed' | 'changed', data: JsonObject = {}): LoggedEvent => {
    sequence += 1;
    const where = { tenant: '', subject: 'queue-age:queue:mail', source: 'server', sequence, at: clock.now() };
    return { type: `incident.${type}`, ...where, data: { ...VALUE, ...data }, cursor: '' };
  };
  const deliver = (given: LoggedEvent) =>
    sink.deliver({ id: `evt_${given.sequence}`, event: given, attempt: 1 }, new AbortController().signal);
  const tell = (...given: Parameters<typeof event>) => deliver(event(...given));
  return { slack, clock, sink, event, deliver, tell, bodies: () => slack.got.map((one) => one.event) };
}

describe('with a bot', () => {
  test('posts one message for an incident, and what becomes of it in the thread of that message', async () => {
    const { slack, tell, bodies } = await made();
    await tell('opened', { facts: { age_ms: 360_000, available: 3 } });
    await tell('changed', { title: 'Something else' });
    await tell('escalated', { severity: 'critical' });
    await tell('closed', { status: 'closed' });
    expect(slack.got.map(({ path, headers }) => [path, headers.authorization])).toEqual(
      Array(3).fill(['/api/chat.postMessage', `Bearer ${TOKEN}`]),
    );
    const [root, worse, clear] = bodies();
    expect(root).toMatchObject({ channel: 'C1', text: ":warning: Queue 'mail' waits." });
    expect(root).not.toHaveProperty('thread_ts');
    expect(root.blocks[0]).toMatchObject({ type: 'header', text: { type: 'plain_text' } });
    const fields = root.blocks[1].fields.map(({ text }: { text: string }) => text);
    expect(fields).toEqual([
      ...['Severity: warning', 'Queue: mail', 'Check: queue-age'],
      ...['Age: 6 min', 'Available: 3', 'Incident: queue-age:queue:mail'],
    ]);
    expect(worse).toMatchObject({ thread_ts: '17000000.1', reply_broadcast: true });
    expect(worse.text).toBe(":red_circle: Escalated: Queue 'mail' waits.");
    expect(clear).toMatchObject({ thread_ts: '17000000.1', text: ":white_check_mark: Resolved: Queue 'mail' waits." });
  });

  test('begins a new message when the incident comes back', async () => {
    const { tell, bodies } = await made();
    for (const kind of ['opened', 'closed', 'opened', 'closed'] as const) await tell(kind);
    expect(bodies().map(({ thread_ts }) => thread_ts)).toEqual([undefined, '17000000.1', undefined, '17000000.3']);
  });

  test('sends nothing twice when a delivery is repeated', async () => {
    const { slack, event, deliver } = await made();
    const opened = event('opened');
    for (let n = 0; n < 3; n += 1) await deliver(opened);
    expect(slack.got).toHaveLength(1);
  });
});

describe('with an incoming webhook', () => {
  test('posts each as a message, without a token and a channel', async () => {
    const { slack, tell, bodies } = await made('webhook');
    await tell('opened');
    await tell('closed');
    expect(slack.got.map(({ path }) => path)).toEqual(Array(2).fill('/services/T0/B0/hook-secret'));
    expect(slack.got[0]!.headers).not.toHaveProperty('authorization');
    for (const body of bodies()) expect(Object.keys(body)).toEqual(['text', 'blocks']);
  });
});

test('says nothing of incidents that are milder, of those it never told, and of what is a day old', async () => {
  const { slack, clock, tell, event, deliver } = await made();
  await tell('opened', { severity: 'low' });
  await tell('closed', { status: 'closed' });
  const old = event('opened');
  await clock.advance(86_400_001);
  await deliver(old);
  expect(slack.got).toEqual([]);
  await tell('escalated', { severity: 'critical' });
  expect(slack.got).toHaveLength(1);
});

test('a title cannot mention people or channels, and fits what Slack takes', async () => {
  const { tell, bodies } = await made();
  await tell('opened', { title: `<!channel> & <@U1> ${'x'.repeat(500)}`, facts: { oldest: 'y'.repeat(5_000) } });
  const [{ text, blocks }] = bodies();
  expect(text).toContain('&lt;!channel&gt; &amp; &lt;@U1&gt;');
  expect(text).not.toContain('<');
  expect(blocks[0].text.text).toHaveLength(150);
  for (const field of blocks[1].fields) expect(field.text.length).toBeLessThanOrEqual(2_000);
});

describe('a refusal', () => {
  const refusal = async (answer: ReturnType<typeof slackSays>, kind: 'bot' | 'webhook' = 'bot') => {
    const { slack, tell } = await made(kind);
    slack.next.push(answer);
    const error = await tell('opened').then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SinkRefusal);
    const { message, retryAfterMs, isFinal } = error as SinkRefusal;
    expect(message).not.toMatch(/xoxb|secret|127\.0\.0\.1/);
    return { message, retryAfterMs, isFinal };
  };

  test('with ok: false names the error and what to do', async () => {
    expect(await refusal(slackSays(200, { ok: false, error: 'not_in_channel' }))).toEqual({
      message: 'Slack refused the message with not_in_channel. Invite the bot to the channel.',
      ...{ retryAfterMs: undefined, isFinal: false },
    });
  });

  test.each([
    [slackSays(429, '', { 'Retry-After': '30' }), 'bot'],
    [slackSays(429, 'rate_limited', { 'Retry-After': '30' }), 'webhook'],
    [slackSays(200, { ok: false, error: 'ratelimited' }), 'bot'],
  ] as const)('for a rate limit says when to come again: %#', async (answer, kind) => {
    expect((await refusal(answer, kind)).retryAfterMs).toBe(30_000);
  });

  test.each([
    ['500', slackSays(500, 'oops xoxb-echo'), 'The receiver answered 500.'],
    [
      'no JSON',
      slackSays(200, '<html>secret</html>'),
      'Slack refused the message with an answer that it did not understand.',
    ],
    [
      'an error that echoes',
      slackSays(200, { ok: false, error: `bad ${TOKEN}` }),
      'an answer that it did not understand',
    ],
    ['a redirect', slackSays(302, '', { Location: 'http://127.0.0.1/' }), 'redirects are not followed'],
  ])('tells of %s, and repeats nothing of it', async (_, answer, message) => {
    expect((await refusal(answer)).message).toContain(message);
  });

  test.each([
    [404, 'no_service'],
    [410, 'channel_is_archived'],
  ])('of a webhook that is gone (%i) does not end the sink for good', async (status, text) => {
    expect((await refusal(slackSays(status, text), 'webhook')).isFinal).toBe(false);
  });

  test('when Slack does not answer in time', async () => {
    const { slack, tell } = await made('bot', 50);
    slack.next.push(() => {});
    await expect(tell('opened')).rejects.toThrow('The receiver did not answer within 0.05 s.');
  });

  test('is followed by the message once Slack takes it', async () => {
    const { slack, event, deliver } = await made();
    slack.next.push(slackSays(503, ''));
    const opened = event('opened');
    await expect(deliver(opened)).rejects.toThrow('503');
    await deliver(opened);
    expect(slack.got).toHaveLength(2);
  });
});
