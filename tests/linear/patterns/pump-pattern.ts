/** Builds texts that make a matcher work: beginnings of matches, again and again, and no end. */
import { ACCEPT, type Automaton, buildAutomaton } from './automaton.ts'
import { createCounter } from './count-steps.ts'
import { type Class, EDGE, type Pattern } from './read-pattern.ts'

export interface Pumped {
  /** The most attempts for each character, over all texts. */
  readonly stepsPerCharacter: number
  /** The text's beginning, and what is repeated. */
  readonly worst: string
  /** How much more than twice as much twice the text costs, as a factor of 2. */
  readonly growth: number
}

const LENGTH = 250
const WORDS_MAX = 8
/** Far more than any pattern that passes needs; the end for one that does not. */
const STEPS_MAX = 400

/** Returns the worst of the texts; `growth` is 2 if the work is in proportion to the text. */
export function pumpPattern(pattern: Pattern): Pumped {
  const count = createCounter(pattern)
  const { alphabet } = pattern
  let worst: Pumped = { stepsPerCharacter: 0, worst: '', growth: 0 }
  for (const { head, round, tail } of listPumps(pattern)) {
    const [once = 0, twice = 0] = [LENGTH, 2 * LENGTH].map((length) => {
      const text = [...head]
      while (text.length < length) text.push(...round)
      text.push(...tail)
      return count(text, STEPS_MAX * length).steps / text.length
    })
    const growth = (2 * twice) / once
    if (Math.max(growth / 2, 1) * twice > Math.max(worst.growth / 2, 1) * worst.stepsPerCharacter) {
      const write = (word: readonly Class[]) => word.map((one) => alphabet.examples[one]).join('')
      worst = { stepsPerCharacter: twice, growth, worst: `${write(head)} + ${write(round)} …` }
    }
  }
  return worst
}

interface Pump {
  readonly head: readonly Class[]
  readonly round: readonly Class[]
  readonly tail: readonly Class[]
}

/** Each pump as it is, and with an end at which what has begun breaks off. */
function* listPumps({ form, alphabet }: Pattern): Generator<Pump> {
  const automaton = buildAutomaton(form)
  const classes = Array.from(alphabet.examples, (_, index) => index)
  const [stranger = 0] = classes.sort((one, other) => {
    return countPlaces(automaton, one) - countPlaces(automaton, other)
  })
  for (const pump of listRounds(automaton, classes)) {
    yield { ...pump, tail: [] }
    yield { ...pump, tail: [stranger] }
  }
}

function countPlaces({ places }: Automaton, one: Class): number {
  return places.filter((taken) => taken.has(one)).length
}

/** Each class alone, each beginning of a match, and each beginning before what may follow it. */
function* listRounds(automaton: Automaton, classes: readonly Class[]) {
  for (const one of classes) yield { head: [], round: [one] }
  const words = listBeginnings(automaton)
  // Of a long list, some from all over it.
  const stride = Math.ceil(words.length / WORDS_MAX)
  for (const { word, follows } of words.filter((_, index) => index % stride === 0)) {
    yield { head: [], round: word }
    const follow = classes.find((one) => follows.has(one))
    const stop = classes.find((one) => !follows.has(one))
    if (follow !== undefined) yield { head: word, round: [follow] }
    if (follow !== undefined) yield { head: [], round: [...word, follow, follow] }
    if (stop !== undefined) yield { head: [], round: [...word, stop] }
  }
}

interface Beginning {
  readonly word: readonly Class[]
  /** The characters that may follow it. */
  readonly follows: ReadonlySet<Class>
}

/** The shortest way to each place, as a word. */
function listBeginnings({ start, waysFrom, places }: Automaton): Beginning[] {
  const beginnings: Beginning[] = []
  const seen = new Set<number>()
  let waiting: { readonly place: number; readonly word: readonly Class[] }[] = [
    { place: ACCEPT, word: [] },
  ]
  while (waiting.length > 0) {
    const next: typeof waiting = []
    for (const { place, word } of waiting) {
      const before = word.at(-1) ?? EDGE
      const ways = place === ACCEPT ? start : (waysFrom[place] ?? [])
      const follows = new Set(ways.flatMap(({ to }) => [...(places[to] ?? [])]))
      if (word.length > 0) beginnings.push({ word, follows })
      for (const { to, conditions } of ways) {
        const after = [...(places[to] ?? [])].find((one) => {
          return conditions.every((holds) => holds(before, one))
        })
        if (after === undefined || seen.has(to)) continue
        seen.add(to)
        next.push({ place: to, word: [...word, after] })
      }
    }
    waiting = next
  }
  return beginnings
}
