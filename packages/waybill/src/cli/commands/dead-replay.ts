import { bulkDead } from '../bulk-dead.ts';

export const deadReplay = bulkDead({
  name: 'dead replay',
  summary: 'let dead letters start over with all their attempts',
  verb: 'Replay',
  word: 'replayed',
  wireWord: 'retried',
  withMessages: true,
  revives: true,
  notes: `With an sqs:// transport, --all also sends back messages that were put aside, unless filters are given that only
rows have. A row decides about every message, so nothing runs twice.`,
  one: (deadLetters, id) => deadLetters.replay(id),
  slice: async (deadLetters, filter, atMost) => {
    const { replayed, ...rest } = await deadLetters.replayMany(filter, { atMost });
    return { done: replayed, ...rest };
  },
});
