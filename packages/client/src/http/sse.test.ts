import { expect, test } from 'vitest';
import { SseParser } from './sse.ts';

const TEXT =
  ': hello\n\nid: 1\n\nid: 2\nevent: x\ndata: {"a":1}\n\ndata\ndata:  b\ndata:c\r\n\r\nid:3\rdata:d\r\rdata: never told';
const MESSAGES = [{ id: '1' }, { id: '2', event: 'x', data: '{"a":1}' }, { data: '\n b\nc' }, { id: '3', data: 'd' }];

test('messages are the same wherever the text is cut', () => {
  expect(new SseParser().push(TEXT)).toEqual(MESSAGES);
  for (let cut = 0; cut <= TEXT.length; cut += 1) {
    const parser = new SseParser();
    expect([...parser.push(TEXT.slice(0, cut)), ...parser.push(TEXT.slice(cut))]).toEqual(MESSAGES);
  }
  const parser = new SseParser();
  expect([...TEXT].flatMap((letter) => parser.push(letter))).toEqual(MESSAGES);
});
