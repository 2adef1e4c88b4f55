import { type RpcRemoteOptions, rpcRemote } from '@waybill/client/rpc';
import type { Waybill } from '@waybill/core';
import { onTestFinished } from 'vitest';
import { serve } from '../serve.ts';
import { type Harness, harness } from './harness.ts';

export interface RpcHarness extends Harness {
  client: Waybill;
  grpcUrl: string;
}

/** The gRPC client on the real port for gRPC, and behind it the app, an engine and a clock that the test owns. */
export async function rpcHarness(
  options: Parameters<typeof harness>[0] = {},
  client: RpcRemoteOptions = {},
): Promise<RpcHarness> {
  const server = harness(options);
  const listening = await serve(server.app, { port: 0, grpcPort: 0, graceMs: 1_000 });
  const grpcUrl = listening.grpcUrl!;
  const waybill = rpcRemote(grpcUrl, { sleep: async () => {}, ...client });
  onTestFinished(async () => {
    await waybill.close();
    await listening.close();
  });
  return { ...server, client: waybill, grpcUrl };
}
