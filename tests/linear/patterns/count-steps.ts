/**
 * Matches a text as the language's own matcher does, from each start in turn and with the same
 * order of attempts, and counts the attempts: work that depends on no machine.
 */
import { type Class, EDGE, type Form, type Pattern } from './read-pattern.ts'

interface Run {
  readonly text: readonly Class[]
  readonly stepsMax: number
  steps: number
}

type Next = (at: number) => boolean
type Matcher = (run: Run, at: number, next: Next) => boolean

export interface Count {
  /** Where the first match begins; undefined if nothing matches. */
  readonly matchedFrom: number | undefined
  readonly steps: number
}

/** Counts the attempts of a search, with the flag `g` of all searches; it ends at `stepsMax`. */
export function createCounter({ form, isGlobal }: Pattern) {
  const matcher = compile(form)
  return (text: readonly Class[], stepsMax = Infinity): Count => {
    const run: Run = { text, stepsMax, steps: 0 }
    let matchedFrom: number | undefined
    for (let start = 0; start <= text.length && run.steps < stepsMax; start++) {
      let end = start
      const matched = matcher(run, start, (at) => {
        end = at
        return true
      })
      if (!matched) continue
      matchedFrom ??= start
      if (!isGlobal) break
      start = Math.max(start, end - 1)
    }
    return { matchedFrom, steps: run.steps }
  }
}

/** Counts an attempt; false if there have been too many. */
function mayStep(run: Run): boolean {
  run.steps += 1
  return run.steps < run.stepsMax
}

function compile(form: Form): Matcher {
  switch (form.kind) {
    case 'take': {
      const { classes } = form
      return (run, at, next) => mayStep(run) && classes.has(run.text[at] ?? EDGE) && next(at + 1)
    }
    case 'condition': {
      const { holds } = form
      return (run, at, next) => {
        return mayStep(run) && holds(run.text[at - 1] ?? EDGE, run.text[at] ?? EDGE) && next(at)
      }
    }
    case 'look': {
      const item = compile(form.item)
      return (run, at, next) => item(run, at, () => true) !== form.isNegated && next(at)
    }
    case 'choice': {
      const options = form.options.map(compile)
      return (run, at, next) => options.some((option) => option(run, at, next))
    }
    case 'sequence':
      return compileSequence(form.items.map(compile))
    case 'repeat':
      return form.item.kind === 'take'
        ? compileRun(form, form.item.classes)
        : compileRounds(form, compile(form.item))
  }
}

function compileSequence(items: readonly Matcher[]): Matcher {
  const from = (index: number, run: Run, at: number, next: Next): boolean => {
    const item = items[index]
    return item ? item(run, at, (then) => from(index + 1, run, then, next)) : next(at)
  }
  return (run, at, next) => from(0, run, at, next)
}

type Repeat = Extract<Form, { kind: 'repeat' }>

/** One character again and again, without a call inside of a call for each. */
function compileRun({ min, max, isGreedy }: Repeat, classes: ReadonlySet<Class>): Matcher {
  return (run, at, next) => {
    const takes = (count: number) => mayStep(run) && classes.has(run.text[at + count] ?? EDGE)
    let count = 0
    while (count < (isGreedy ? max : min) && takes(count)) count++
    if (count < min) return false
    if (!isGreedy) {
      while (!next(at + count)) if (count >= max || !takes(count++)) return false
      return true
    }
    for (; count >= min; count--) if (mayStep(run) && next(at + count)) return true
    return false
  }
}

function compileRounds({ min, max, isGreedy }: Repeat, item: Matcher): Matcher {
  const from = (count: number, run: Run, at: number, next: Next): boolean => {
    const again = () => {
      if (count >= max || !mayStep(run)) return false
      // An empty round leads nowhere.
      return item(run, at, (then) => {
        return (then > at || count < min) && from(count + 1, run, then, next)
      })
    }
    if (count < min) return again()
    return isGreedy ? again() || next(at) : next(at) || again()
  }
  return (run, at, next) => from(0, run, at, next)
}
