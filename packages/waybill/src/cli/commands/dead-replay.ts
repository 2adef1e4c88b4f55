import { bulkDead } from '../bulk-dead.ts';

export const deadReplay = bulkDead({
  name: 'dead replay',
  summary: 'let dead letters start over with all their attempts',
  verb: 'Replay',
  word: 'replayed',
  wireWord: 'retried',
  one: (deadLetters, id) => deadLetters.replay(id),
  slice: async (deadLetters, filter, atMost) => {
    const { replayed, more } = await deadLetters.replayMany(filter, { atMost });
    return { done: replayed, more };
  },
});
