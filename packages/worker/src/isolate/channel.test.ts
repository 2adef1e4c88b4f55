import { expect, test } from 'vitest';
import { failureOf } from '../execute/failure.ts';
import { channelError } from './channel.ts';

test.each([undefined, null, {}])('an error whose constructor is %j goes through the channel like any other', (own) => {
  const error = Object.assign(new Error('odd'), { constructor: own });
  expect(channelError(error)).toMatchObject({ name: 'Error', message: 'odd' });
  expect(failureOf(error)).toMatchObject({ type: 'Error', message: 'odd' });
});
