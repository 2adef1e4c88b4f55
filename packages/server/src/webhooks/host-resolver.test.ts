import { promises as dns } from 'node:dns';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type NameServer, nameServer } from '../testing/name-server.ts';
import { type HostResolverOptions, hostResolver, type Resolve } from './host-resolver.ts';

const never = new AbortController().signal;
const PUBLIC = [{ address: '8.8.8.8', family: 4 }];

/** Has neither hosts nor search domains unless the test gives some. */
async function resolver(
  server: NameServer,
  { hosts = '', resolvConf = '' } = {},
  options: HostResolverOptions = {},
): Promise<{ resolve: Resolve; write(hosts: string): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-hosts-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const paths = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') };
  await writeFile(paths.hosts, hosts);
  await writeFile(paths.resolvConf, resolvConf);
  return {
    resolve: hostResolver({ servers: [server.address], ...paths, ...options }),
    write: (text) => writeFile(paths.hosts, text),
  };
}

test('a name has its addresses of both families, the older family first', async () => {
  const server = await nameServer({ 'a.test': ['2001:4860:4860:0:0:0:0:8888', '8.8.8.8'], 'b.test': ['8.8.8.8'] });
  const { resolve } = await resolver(server);
  expect(await resolve('A.test', never)).toEqual([...PUBLIC, { address: '2001:4860:4860::8888', family: 6 }]);
  expect(await resolve('b.test.', never)).toEqual(PUBLIC);
});

test('addresses, the hosts file and localhost need no name server', async () => {
  const server = await nameServer();
  const hosts = '# comment\n10.0.0.7 Intern.test intern # 10.0.0.8 other\nfd00::7 intern\nnonsense x.test\n';
  const { resolve } = await resolver(server, { hosts });
  expect(await resolve('8.8.8.8', never)).toEqual(PUBLIC);
  expect(await resolve('::1', never)).toEqual([{ address: '::1', family: 6 }]);
  expect(await resolve('intern.TEST.', never)).toEqual([{ address: '10.0.0.7', family: 4 }]);
  expect(await resolve('intern', never)).toEqual([
    { address: '10.0.0.7', family: 4 },
    { address: 'fd00::7', family: 6 },
  ]);
  for (const name of ['localhost', 'hooks.localhost'])
    expect((await resolve(name, never)).map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
  expect(server.asked).toEqual([]);
});

test('a hosts file that changes counts a few seconds later', async () => {
  const clock = new TestClock();
  const { resolve, write } = await resolver(await nameServer(), { hosts: '10.0.0.1 a.test' }, { clock });
  expect(await resolve('a.test', never)).toMatchObject([{ address: '10.0.0.1' }]);
  await write('10.0.0.2 a.test');
  await clock.advance(6_000);
  expect(await resolve('a.test', never)).toMatchObject([{ address: '10.0.0.2' }]);
});

test('search domains count as the C library has them', async () => {
  const server = await nameServer({ 'hooks.team.svc.test': ['10.0.0.9'], 'example.test': ['8.8.8.8'] });
  const resolvConf = 'nameserver 10.255.255.1\nsearch team.svc.test svc.test. \noptions edns0 ndots:2\n';
  const { resolve } = await resolver(server, { resolvConf });
  const askedFor = async (host: string) => {
    const before = server.asked.length;
    await resolve(host, never).catch(() => {});
    return [...new Set(server.asked.slice(before))];
  };
  // Few dots: the search domains first.
  expect(await askedFor('hooks')).toEqual(['hooks.team.svc.test']);
  expect(await askedFor('hooks.team')).toEqual(['hooks.team.team.svc.test', 'hooks.team.svc.test']);
  expect(await askedFor('example.test')).toEqual([
    'example.test.team.svc.test',
    'example.test.svc.test',
    'example.test',
  ]);
  expect(await askedFor('a.b.test')).toEqual(['a.b.test', 'a.b.test.team.svc.test', 'a.b.test.svc.test']);
  expect(await askedFor('nothing.')).toEqual(['nothing']);
});

test('deliveries that ask at the same time share one lookup; a later one asks anew', async () => {
  const server = await nameServer({ 'a.test': ['8.8.8.8'] });
  const { resolve } = await resolver(server);
  const answers = await Promise.all(Array.from({ length: 20 }, () => resolve('a.test', never)));
  expect([new Set(answers.flat().map(({ address }) => address)), server.asked]).toEqual([
    new Set(['8.8.8.8']),
    ['a.test', 'a.test'],
  ]);
  await resolve('a.test', never);
  expect(server.asked).toHaveLength(4);
});

test('a silent name server: a delivery that is given up waits no longer, and the last one ends the lookup', async () => {
  const cancelled = vi.spyOn(dns.Resolver.prototype, 'cancel');
  onTestFinished(() => cancelled.mockRestore());
  const server = await nameServer({ 'a.test': null });
  const { resolve } = await resolver(server);
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = [first, second].map(({ signal }) => resolve('a.test', signal));
  const settled = Promise.allSettled(answers);
  await server.whenAsked(2);
  first.abort(new Error('first'));
  await expect(answers[0]).rejects.toThrow('first');
  expect(cancelled).not.toHaveBeenCalled();
  second.abort(new Error('second'));
  await expect(answers[1]).rejects.toThrow('second');
  expect(cancelled).toHaveBeenCalledOnce();
  await settled;
  await expect(resolve('a.test', first.signal)).rejects.toThrow('first');
  // What was given up is not taken for a failure of the name.
  const third = new AbortController();
  const again = resolve('a.test', third.signal);
  await server.whenAsked(4);
  third.abort(new Error('third'));
  await expect(again).rejects.toThrow('third');
});

test('a silent name server is a failure of its own, and the search domains are not tried', async () => {
  const server = await nameServer({ 'a.test': null });
  const { resolve } = await resolver(server, { resolvConf: 'search svc.test' }, { timeoutMs: 100 });
  await expect(resolve('a.test', never)).rejects.toMatchObject({ code: 'DNS_ETIMEOUT' });
  expect(new Set(server.asked)).toEqual(new Set(['a.test']));
});

test('a failure is remembered for a few seconds, and of many failures the newest', async () => {
  const clock = new TestClock();
  const server = await nameServer();
  const { resolve } = await resolver(server, {}, { clock });
  const fail = (host: string) => expect(resolve(host, never)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await fail('a.test');
  await fail('a.test');
  expect(server.asked).toHaveLength(2);
  await clock.advance(6_000);
  await fail('a.test');
  expect(server.asked).toHaveLength(4);
  for (let at = 0; at < 1_000; at += 50)
    await Promise.all(Array.from({ length: 50 }, (_, n) => fail(`h${at + n}.test`)));
  server.asked.length = 0;
  await fail('h999.test');
  expect(server.asked).toEqual([]);
  await fail('a.test');
  expect(server.asked).toEqual(['a.test', 'a.test']);
});
