import type { Aside, AsideMessage } from '@waybill/core';
import { ASIDE, asideMessage, original } from './aside-message.ts';
import type { Base } from './base.ts';
import { isMissing } from './failures.ts';
import { readReceipt } from './message.ts';
import type { QueueBook } from './queue-book.ts';
import { type Place, tierOf } from './queue-names.ts';
import type { Message } from './sdk.ts';
import { PER_REQUEST } from './settings.ts';
import type { Sources } from './sources.ts';

/** Longer than it takes to look at as many as are taken at once. */
const TAKEN_S = 120;
/** A receive that does not wait asks only some of the servers of SQS, and may find nothing where there is something. */
const WAIT_S = 1;

/** The redrive and dead queues, in which messages are only taken for a while. Neither has a redrive of its own. */
export function sqsAside({ sdk, poller, settings }: Base, book: QueueBook, sources: Sources): Aside {
  async function receive(url: string, most: number): Promise<Message[]> {
    const command = new sdk.ReceiveMessageCommand({
      ...{ QueueUrl: url, VisibilityTimeout: TAKEN_S, WaitTimeSeconds: WAIT_S },
      MaxNumberOfMessages: Math.min(PER_REQUEST, most),
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['SentTimestamp'],
    });
    try {
      const requestTimeout = WAIT_S * 1000 + settings.timeouts.requestMs;
      return (await poller.send(command, { requestTimeout })).Messages ?? [];
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async function take(place: Place, most: number): Promise<AsideMessage[]> {
    const taken: AsideMessage[] = [];
    for (const role of ASIDE) {
      const name = book.nameFor(place, role);
      const url = name === undefined ? undefined : await book.find(name);
      while (url !== undefined && taken.length < most) {
        const messages = await receive(url, most - taken.length);
        if (messages.length === 0) break;
        taken.push(...messages.map((message) => asideMessage(message, place, role, name!)));
      }
    }
    return taken;
  }

  async function callsOf({ receipt, ...place }: AsideMessage) {
    const { name, handle } = readReceipt(receipt);
    return { calls: (await sources.byName(name, place))?.calls, handle };
  }

  async function remove(aside: AsideMessage): Promise<void> {
    const { calls, handle } = await callsOf(aside);
    await calls?.remove(handle);
  }

  return {
    queues: [...new Set([...Object.keys(settings.adopt), ...Object.keys(settings.queues)])],
    take,
    remove,
    putBack: async (aside) => {
      const { calls, handle } = await callsOf(aside);
      await calls?.hide(handle, 0);
    },
    sendBack: async (aside) => {
      const message = aside.message as Message;
      const priority = Number(message.MessageAttributes?.['Priority']?.StringValue ?? 0);
      // Foreign producers know nothing of tiers.
      const tier = aside.kind === 'hint' ? tierOf(priority) : 'default';
      await sources.send(aside, tier, original(message));
      await remove(aside);
    },
  };
}
