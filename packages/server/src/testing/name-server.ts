import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, isIPv4 } from 'node:net';
import { onTestFinished } from 'vitest';

const A = 1;
const AAAA = 28;
const NO_SUCH_NAME = 3;
const HEADER_BYTES = 12;

export interface NameServer {
  /** As `hostResolver` takes it. */
  address: string;
  /** The names it was asked for, one for each question. A resolver asks for IPv4 and for IPv6. */
  asked: string[];
  whenAsked(count: number): Promise<void>;
}

/** A real name server on loopback, closed when the test ends. It keeps silent about a name whose value is null. */
export async function nameServer(names: Readonly<Record<string, readonly string[] | null>> = {}): Promise<NameServer> {
  const asked: string[] = [];
  let watchers: { count: number; tell(): void }[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = questionIn(question);
    asked.push(name);
    const answers = names[name];
    if (answers !== null) socket.send(answerTo(question.subarray(0, end), type, answers), port, address);
    const met = watchers.filter(({ count }) => asked.length >= count);
    watchers = watchers.filter((watcher) => !met.includes(watcher));
    for (const { tell } of met) tell();
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked,
    whenAsked: async (count) => {
      if (asked.length < count) await new Promise<void>((tell) => watchers.push({ count, tell }));
    },
  };
}

function questionIn(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // c-ares mixes upper and lower case at random, as a protection against forged answers.
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(question: Buffer, type: number, answers: readonly string[] | undefined): Buffer {
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  const wanted = (answers ?? []).filter((address) => type === (isIPv4(address) ? A : AAAA));
  header.writeUInt16BE(0x8180 + (answers ? 0 : NO_SUCH_NAME), 2);
  for (const [at, count] of [1, wanted.length, 0, 0].entries()) header.writeUInt16BE(count, 4 + 2 * at);
  return Buffer.concat([header, question.subarray(HEADER_BYTES), ...wanted.map(recordOf)]);
}

/** The name is the one of the question; it may be kept for a minute. */
function recordOf(address: string): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Of(address);
  const type = isIPv4(address) ? A : AAAA;
  return Buffer.concat([Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]), data]);
}

/** With all of its eight groups. */
const ipv6Of = (address: string): Buffer =>
  Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
