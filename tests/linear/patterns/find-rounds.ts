/** The parts of a graph in which each place leads to each other one. */

/** For each place that leads back to itself: the places on the ways there and back. */
export type Rounds = ReadonlyMap<number, ReadonlySet<number>>

/** `nexts` lists for each place where it leads. Takes time in proportion to all of them. */
export function findRounds(nexts: readonly (readonly number[])[]): Rounds {
  const backs: number[][] = nexts.map(() => [])
  nexts.forEach((list, place) => {
    for (const next of list) backs[next]?.push(place)
  })
  const rounds = new Map<number, ReadonlySet<number>>()
  const done = new Set<number>()
  // Walked backwards in this order, a place reaches its own round and nothing else that is new.
  for (const place of listByEnd(nexts).reverse()) {
    const round = new Set<number>()
    const waiting = [place]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (done.has(at)) continue
      done.add(at)
      round.add(at)
      waiting.push(...(backs[at] ?? []))
    }
    const isRound = round.size > 1 || nexts[place]?.includes(place)
    if (isRound) for (const member of round) rounds.set(member, round)
  }
  return rounds
}

/** The places in the order in which a walk through the graph has finished with them. */
function listByEnd(nexts: readonly (readonly number[])[]): number[] {
  const ended: number[] = []
  const seen = new Set<number>()
  for (const root of nexts.keys()) {
    const path: { readonly place: number; at: number }[] = []
    const enter = (place: number) => {
      if (!seen.has(place)) path.push({ place, at: 0 })
      seen.add(place)
    }
    enter(root)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = nexts[top.place]?.[top.at++]
      if (next !== undefined) enter(next)
      else ended.push(path.pop()?.place ?? root)
    }
  }
  return ended
}
