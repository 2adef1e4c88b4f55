import { describe, expect, it } from 'vitest';
import { type TransportFactory, transportBenchFor } from './transport/bench.ts';
import { testDelivery } from './transport/delivery.ts';
import { testMessages } from './transport/messages.ts';

/**
 * The contract of a Transport, the same for one that claims (the store itself) and one that delivers hints. The
 * factory makes an empty transport and an empty store for every test.
 */
export function testTransport(name: string, factory: TransportFactory): void {
  const open = transportBenchFor(factory);
  describe(`${name} keeps the transport contract`, () => {
    it('takes no hints at all without complaint', async () => {
      const { transport } = await open();
      await transport.send([]);
      expect(transport.capabilities.name).not.toBe('');
    });

    testDelivery(open);
    testMessages(open);
  });
}
