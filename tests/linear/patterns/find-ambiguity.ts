/**
 * Proves that a pattern is linear, whatever the text: a matcher that backtracks, from each start in
 * turn, walks each path of the automaton at most once, so its work is bounded by the number of
 * paths at a character. That number stays bounded unless some word leads
 *
 * - from a place around to itself in two ways (the number doubles with each word), or
 * - from one place around to itself and to a second one, and around from there as well (the number
 *   grows with each word). The search for a start is such a first place, around which everything
 *   leads: `\s+$` is quadratic, since each space starts a path that stays open.
 *
 * A way around past a place where the pattern has matched is no danger: the first path to take it
 * ends it all.
 */
import { ACCEPT, type Automaton, buildAutomaton, type Way } from './automaton.ts'
import { findRounds, type Rounds } from './find-rounds.ts'
import type { Class, Pattern } from './read-pattern.ts'

/** The search for a start, as a place. */
const SEARCH = -2

/** What leads around: all ways, and those that pass no place where the pattern has matched. */
interface Round {
  readonly all: Rounds
  readonly open: Rounds
}

/** Returns a word that, repeated, makes a matcher work more for each character. */
export function findAmbiguity({ form, alphabet }: Pattern): string | undefined {
  const automaton = buildAutomaton(form)
  const nexts = automaton.waysFrom.map((ways) => ways.map(({ to }) => to))
  const rounds: Round = {
    all: findRounds(nexts),
    open: findRounds(nexts.map((list, place) => (acceptsAt(automaton, place) ? [] : list))),
  }
  for (const second of rounds.open.keys()) {
    let word = findTwoRounds(automaton, second, rounds)
    for (const first of [SEARCH, ...rounds.all.keys()]) {
      word ??= findTwoStays(automaton, first, second, rounds)
    }
    if (word) return word.map((one) => alphabet.examples[one]).join('')
  }
  return undefined
}

function acceptsAt({ waysFrom }: Automaton, place: number): boolean {
  return (waysFrom[place] ?? []).some(({ to, conditions }) => {
    return to === ACCEPT && conditions.length === 0
  })
}

function waysOf({ start, waysFrom }: Automaton, place: number): readonly Way[] {
  return place === SEARCH ? start : (waysFrom[place] ?? [])
}

/** The places to which one more character leads; twice in the list if there are two ways. */
function step(automaton: Automaton, place: number, before: Class, after: Class): number[] {
  const next = waysOf(automaton, place).filter(({ to, conditions }) => {
    if (!automaton.places[to]?.has(after)) return false
    return conditions.every((holds) => holds(before, after))
  })
  const places = next.map(({ to }) => to)
  return place === SEARCH ? [SEARCH, ...places] : places
}

/** Some paths that have read the same word, and the last character of it. */
interface State {
  readonly at: readonly number[]
  readonly before: Class
  /** Two of the paths have been different. */
  readonly split: boolean
  readonly from: State | undefined
}

/** Returns a word that leads from a place around to itself in two ways. */
function findTwoRounds(
  automaton: Automaton,
  place: number,
  { all, open }: Round,
): readonly Class[] | undefined {
  const within = [open.get(place), all.get(place)]
  return findWord(automaton, [place, place], [place, place], within, automaton.places[place])
}

const SEARCHED: ReadonlySet<number> = new Set([SEARCH])

/** Returns a word around `first`, from there to `second`, and around that. */
function findTwoStays(
  automaton: Automaton,
  first: number,
  second: number,
  { all, open }: Round,
): readonly Class[] | undefined {
  // In one round this is a matter of two rounds.
  if (open.get(second)?.has(first)) return undefined
  const within = [first === SEARCH ? SEARCHED : all.get(first), undefined, open.get(second)]
  const lasts = automaton.places[first === SEARCH ? second : first]
  return findWord(automaton, [first, first, second], [first, second, second], within, lasts)
}

/**
 * Searches a word that leads each path from its start to its end, and can be repeated: the last
 * character of the word stands before it as well. Of two paths alone, it must be two.
 */
function findWord(
  automaton: Automaton,
  starts: readonly number[],
  ends: readonly number[],
  within: readonly (ReadonlySet<number> | undefined)[],
  lasts: ReadonlySet<Class> = new Set(),
): readonly Class[] | undefined {
  for (const last of lasts) {
    if (!automaton.places[starts.at(-1) ?? ACCEPT]?.has(last)) continue
    const seen = new Set<string>()
    const isPair = starts.length === 2
    let waiting: State[] = [{ at: starts, before: last, split: !isPair, from: undefined }]
    while (waiting.length > 0) {
      const next: State[] = []
      for (const state of waiting) {
        for (const to of stepAll(automaton, state, within)) {
          const key = `${to.at.join()}/${to.before}/${to.split}`
          if (seen.has(key)) continue
          seen.add(key)
          const isEnd = to.split && to.before === last && to.at.every((at, i) => at === ends[i])
          if (isEnd) return wordOf(to)
          next.push(to)
        }
      }
      waiting = next
    }
  }
  return undefined
}

function wordOf(end: State): Class[] {
  const word: Class[] = []
  for (let state: State = end; state.from; state = state.from) word.push(state.before)
  return word.reverse()
}

/** All states after one more character. */
function* stepAll(
  automaton: Automaton,
  state: State,
  within: readonly (ReadonlySet<number> | undefined)[],
): Generator<State> {
  const { at, before } = state
  const afters = new Set(
    waysOf(automaton, at.at(-1) ?? SEARCH).flatMap(({ to }) => [...(automaton.places[to] ?? [])]),
  )
  for (const after of afters) {
    const nexts = at.map((place, path) => {
      const next = step(automaton, place, before, after)
      return within[path] ? next.filter((to) => within[path]?.has(to)) : next
    })
    for (const combined of combine(nexts)) {
      const isSplit = at.length === 2 && combined.split
      yield { at: combined.at, before: after, split: state.split || isSplit, from: state }
    }
  }
}

/** Every combination of one place of each path; split if the ways of the first two differ. */
function* combine(
  nexts: readonly (readonly number[])[],
): Generator<{ readonly at: readonly number[]; readonly split: boolean }> {
  const [firsts = [], seconds = [], thirds] = nexts
  for (const [i, first] of firsts.entries()) {
    for (const [j, second] of seconds.entries()) {
      if (!thirds) yield { at: [first, second], split: i !== j }
      else for (const third of thirds) yield { at: [first, second, third], split: true }
    }
  }
}
