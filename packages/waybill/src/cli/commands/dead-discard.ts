import { bulkDead } from '../bulk-dead.ts';

export const deadDiscard = bulkDead({
  name: 'dead discard',
  summary: 'take dead letters out of the set; retention removes their rows',
  verb: 'Discard',
  word: 'discarded',
  wireWord: 'deleted',
  one: (deadLetters, id) => deadLetters.discard(id),
  slice: async (deadLetters, filter, atMost) => {
    const { discarded, more } = await deadLetters.discardMany(filter, { atMost });
    return { done: discarded, more };
  },
});
