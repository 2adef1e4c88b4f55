import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { rpcRemote } from '@waybill/client/rpc';
import { JobService } from '@waybill/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { certificates } from '../../testing/certificates.ts';
import { socketServer } from '../../testing/socket-server.ts';

async function tlsServer() {
  const make = certificates();
  const files = make('first');
  const server = await socketServer({ grpcPort: 0, tls: { ...files, checkEveryMs: 20 } });
  return { ...server, grpcUrl: server.grpcUrl!, files, make };
}

/** The name in the certificate that the port for gRPC shows, and the protocol that it agrees on. */
const shown = (grpcUrl: string): Promise<(string | false | null | undefined)[]> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(grpcUrl.replace('grpcs', 'https'));
    const socket = connectTls({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2'] }, () => {
      resolve([socket.getPeerCertificate().subject.CN as string | undefined, socket.alpnProtocol]);
      socket.destroy();
    });
    socket.once('error', reject);
  });

test('our client works by grpcs:// with the authority that NODE_EXTRA_CA_CERTS names', async () => {
  const { grpcUrl, waybill, files } = await tlsServer();
  expect(grpcUrl).toMatch(/^grpcs:\/\/127\.0\.0\.1:\d+$/);
  const client = `
    import { rpcRemote } from '@waybill/client/rpc';
    const { jobs, close } = rpcRemote(process.argv[1]);
    const { job } = await jobs.enqueue({ type: 'x', args: [] });
    const [{ token }] = await jobs.claim({ queues: ['default'] });
    await jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: 'safe' } });
    console.log(job.id);
    await close();
  `;
  const args = ['--input-type=module', '--eval', client, grpcUrl];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: files.cert, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: import.meta.dirname });
  expect(await waybill.jobs.get(stdout.trim())).toMatchObject({ state: 'completed', result: 'safe' });
});

test('a client that does not trust the certificate gets an error that says so', async () => {
  const { grpcUrl } = await tlsServer();
  const waybill = rpcRemote(grpcUrl, { sleep: async () => {} });
  onTestFinished(() => waybill.close());
  await expect(waybill.jobs.list()).rejects.toMatchObject({
    ...{ code: 'unavailable', message: expect.stringMatching(/certificate .* is not trusted \(\w+\)/) },
    hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
});

// fault: a client without TLS at the port that has it, and the other way round
test('a client without TLS gets a clean failure, and so does one with TLS where there is none', async () => {
  const { grpcUrl, waybill: engine } = await tlsServer();
  const { grpcUrl: plainUrl } = await socketServer({ grpcPort: 0 });
  for (const url of [grpcUrl.replace('grpcs', 'grpc'), plainUrl!.replace('grpc', 'grpcs')]) {
    const waybill = rpcRemote(url, { sleep: async () => {} });
    onTestFinished(() => waybill.close());
    const refused = await waybill.jobs.enqueue({ type: 'x', args: [] }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining(url) });
  }
  const raw = connectHttp2(grpcUrl.replace('grpcs', 'http'));
  await new Promise((resolve) => raw.on('error', () => {}).once('close', resolve));
  expect(await shown(grpcUrl)).toEqual(['first', 'h2']);
  expect((await engine.jobs.list()).items).toEqual([]);
});

test('a changed certificate is taken without a restart, and calls that are open go on', async () => {
  const { grpcUrl, waybill, files, make } = await tlsServer();
  const baseUrl = grpcUrl.replace('grpcs', 'https');
  const session = new Http2SessionManager(baseUrl, {}, { ca: readFileSync(files.cert) });
  onTestFinished(() => session.abort());
  const jobs = createClient(JobService, createGrpcTransport({ baseUrl, sessionManager: session }));
  const stream = jobs.dequeueJobs({ queue: 'default' })[Symbol.asyncIterator]();
  await waybill.jobs.enqueueMany([
    { type: 'x', args: [] },
    { type: 'x', args: [] },
  ]);
  const { value: first } = await stream.next();
  const second = make('second');
  copyFileSync(second.cert, files.cert);
  copyFileSync(second.key, files.key);
  await expect.poll(() => shown(grpcUrl)).toEqual(['second', 'h2']);
  await jobs.completeJob({ taskToken: first!.taskToken, result: { success: true } });
  expect((await stream.next()).value!.job!.jobId).not.toBe(first!.job!.jobId);
  // A connection of its own trusts the new one.
  const next = new Http2SessionManager(baseUrl, {}, { ca: readFileSync(second.cert) });
  onTestFinished(() => next.abort());
  const others = createClient(JobService, createGrpcTransport({ baseUrl, sessionManager: next }));
  expect((await others.listJobs({})).jobs).toHaveLength(2);
});
