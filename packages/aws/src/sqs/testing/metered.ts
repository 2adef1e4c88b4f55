import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { engine, type Store, silentLogger, type Waybill } from '@waybill/core';
import type { Meter } from '../../testing/meter.ts';
import type { Client } from '../sdk.ts';
import type { LocalSqs } from './bench.ts';

/** What something takes of AWS. */
export interface Cost {
  write: number;
  read: number;
  sqs: number;
}

export interface Metered {
  waybill: Waybill;
  /** What `work` costs, for each of so many. */
  per(times: number, work: () => Promise<unknown>): Promise<Cost>;
}

export interface MeteredParts {
  sqs: LocalSqs;
  store: Store;
  meter: Meter;
  overSqs: boolean;
  maintenance: boolean;
}

/** An engine whose every request to AWS is counted. */
export async function metered({ sqs, store, meter, overSqs, maintenance }: MeteredParts): Promise<Metered> {
  let requests = 0;
  const client = counting(sqs, () => {
    requests += 1;
  });
  const transport = overSqs ? await sqs.open({ client }) : undefined;
  return {
    waybill: engine({ store, maintenance, logger: silentLogger, ...(transport && { transport }) }),
    per: async (times, work) => {
      const before = requests;
      const { write, read } = await meter.per(times, work);
      return { write, read, sqs: (requests - before) / times };
    },
  };
}

/** An idle queue answers a long poll when its time is over; the time of the test is not that of the emulator. */
function counting({ client, clock }: LocalSqs, count: () => void): Client {
  const send = async (...[command, options]: Parameters<Client['send']>) => {
    count();
    if (!(command instanceof ReceiveMessageCommand)) return client.send(command, options);
    const { WaitTimeSeconds = 0 } = command.input;
    await clock.sleep(WaitTimeSeconds * 1_000, options?.abortSignal as AbortSignal | undefined);
    return client.send(new ReceiveMessageCommand({ ...command.input, WaitTimeSeconds: 0 }), options);
  };
  return { send } as Client;
}
