import { remote } from '@waybill/client/http';
import { rpcRemote } from '@waybill/client/rpc';
import { expect, onTestFinished, test } from 'vitest';
import { certificates } from '../../testing/certificates.ts';
import { socketServer } from '../../testing/socket-server.ts';

const sleep = async () => {};

/** A single call, and what a stream opens with, are refused alike. */
async function refusalsOf(client: ReturnType<typeof remote> | ReturnType<typeof rpcRemote>): Promise<unknown[]> {
  onTestFinished(() => client.close());
  const calls = [client.jobs.enqueue({ type: 'x', args: [] }), client.jobs.list()];
  return Promise.all(
    calls.map((call) =>
      call.catch(({ code, message, hint }: { code: string; message: string; hint: string }) => [code, message, hint]),
    ),
  );
}

test.each(['plain', 'TLS'])('a client that has the port of the other protocol is told so, %s', async (kind) => {
  const tls = kind === 'TLS' ? { tls: certificates()('own') } : {};
  const { url, grpcUrl = '' } = await socketServer({ grpcPort: 0, ...tls });
  const [http, grpc] = [grpcUrl.replace('grpc', 'http'), url.replace('http', 'grpc')];
  const toGrpcPort = [
    'unavailable',
    `What answered at ${http} does not speak HTTP/1.1.`,
    `This looks like the gRPC port. Use ${grpcUrl}, or the port for HTTP.`,
  ];
  expect(await refusalsOf(remote(http, { sleep }))).toEqual([toGrpcPort, toGrpcPort]);
  const toHttpPort = [
    'unavailable',
    `What answered at ${grpc} does not speak HTTP/2.`,
    `This looks like the HTTP port. Use ${url}, or the port that \`waybill serve --grpc-port\` names.`,
  ];
  expect(await refusalsOf(rpcRemote(grpc, { sleep }))).toEqual([toHttpPort, toHttpPort]);
});
