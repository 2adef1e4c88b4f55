import { memoryStore, testTransport } from '@waybill/core/testing';
import { useLocalSqs } from './testing/bench.ts';

const local = useLocalSqs();

testTransport('sqs', async () => {
  const { clock, open, advance } = local();
  const [store, transport] = [memoryStore({ clock }), await open()];
  const close = async () => {
    await transport.close();
    await store.close();
  };
  return { store, transport, advance, close };
});
