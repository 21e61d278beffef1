const LONGEST_LOOP = 4

/** The same way with each round of a loop taken once: a b a b a b c is a b c. */
export function takeLoopsOnce(path: readonly string[]): string[] {
  let taken = [...path]
  for (let length = 1; length <= LONGEST_LOOP; length += 1) taken = withoutRounds(taken, length)
  return taken
}

function withoutRounds(path: readonly string[], length: number): string[] {
  const taken: string[] = []
  for (const id of path) {
    taken.push(id)
    const round = taken.slice(-length)
    const before = taken.slice(-2 * length, -length)
    if (before.length === length && round.every((step, index) => step === before[index]))
      taken.splice(-length)
  }
  return taken
}
