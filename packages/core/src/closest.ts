/** The word that was probably meant; undefined when none is near. */
export function closest(typed: string, words: readonly string[]): string | undefined {
  const near = words.map((word) => ({ word, far: distance(typed, word) })).sort((a, b) => a.far - b.far)[0];
  return near !== undefined && near.far <= Math.max(1, Math.floor(typed.length / 3)) ? near.word : undefined;
}

/** Levenshtein's, row by row; two letters in the wrong order count as one mistake. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  const letters = [...from];
  for (const [index, letter] of letters.entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at += 1) {
      const other = row[at - 1]! + (letter === to[at - 1] ? 0 : 1);
      const isSwapped = at > 1 && letter === to[at - 2] && letters[index - 1] === to[at - 1];
      const swapped = isSwapped ? before[at - 2]! + 1 : other;
      next.push(Math.min(other, swapped, row[at]! + 1, next[at - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[to.length]!;
}

/** To be added to an error: empty when no word is near, so that nothing far-fetched is proposed. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const meant = closest(typed, words);
  return meant === undefined ? '' : ` Did you mean '${meant}'?`;
}
