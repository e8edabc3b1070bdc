/**
 * The automaton of a pattern: a place for each character that it may take, and the ways from place
 * to place. A matcher that backtracks walks these ways, so their number bounds its work.
 */
import type { Class, Condition, Form } from './read-pattern.ts'

/** A way to the next character without taking one on the way. */
export interface Way {
  /** The place that takes the next character; ACCEPT if the pattern has matched. */
  readonly to: number
  readonly conditions: readonly Condition[]
}

export const ACCEPT = -1

export interface Automaton {
  /** The classes of characters that each place takes. */
  readonly places: readonly ReadonlySet<Class>[]
  /** The ways on from behind each place. */
  readonly waysFrom: readonly (readonly Way[])[]
  readonly start: readonly Way[]
}

/** Larger patterns are refused: nobody could read them either. */
const NODES_MAX = 20_000

type Node =
  | { readonly kind: 'take'; readonly place: number; next: number }
  | { readonly kind: 'split'; readonly nexts: number[] }
  | { readonly kind: 'condition'; readonly holds: Condition; readonly next: number }
  | { readonly kind: 'accept' }
  /** The end of a look ahead: what follows has been explored beside it. */
  | { readonly kind: 'end' }

interface Builder {
  readonly nodes: Node[]
  readonly places: ReadonlySet<Class>[]
  readonly behind: number[]
}

export function buildAutomaton(form: Form): Automaton {
  const builder: Builder = { nodes: [], places: [], behind: [] }
  const accept = add(builder, { kind: 'accept' })
  const start = build(builder, form, accept)
  return {
    places: builder.places,
    start: listWays(builder.nodes, start),
    waysFrom: builder.behind.map((next) => listWays(builder.nodes, next)),
  }
}

function add(builder: Builder, node: Node): number {
  if (builder.nodes.length > NODES_MAX) throw new Error('a pattern that is too large')
  return builder.nodes.push(node) - 1
}

/** Builds what leads through the form to `next`, and returns its first node. */
function build(builder: Builder, form: Form, next: number): number {
  switch (form.kind) {
    case 'take': {
      const place = builder.places.push(form.classes) - 1
      builder.behind.push(next)
      return add(builder, { kind: 'take', place, next })
    }
    case 'sequence':
      return form.items.reduceRight((at, item) => build(builder, item, at), next)
    case 'choice': {
      const nexts = form.options.map((option) => build(builder, option, next))
      return add(builder, { kind: 'split', nexts })
    }
    case 'condition':
      return add(builder, { kind: 'condition', holds: form.holds, next })
    case 'look': {
      const end = add(builder, { kind: 'end' })
      return add(builder, { kind: 'split', nexts: [build(builder, form.item, end), next] })
    }
    case 'repeat':
      return buildRepeat(builder, form, next)
  }
}

function buildRepeat(
  builder: Builder,
  { item, min, max }: Extract<Form, { kind: 'repeat' }>,
  next: number,
): number {
  let at = next
  if (max === Infinity) {
    const nexts: number[] = [next]
    const again = add(builder, { kind: 'split', nexts })
    nexts.push(build(builder, item, again))
    // To begin is not to go around: an outer round may come by here right after an inner one.
    at = add(builder, { kind: 'split', nexts })
  } else {
    for (let count = min; count < max; count++) {
      at = add(builder, { kind: 'split', nexts: [next, build(builder, item, at)] })
    }
  }
  for (let count = 0; count < min; count++) at = build(builder, item, at)
  return at
}

/**
 * Each way counts, also a second one between the same places: a matcher would try both. A node is
 * passed once, as no matcher repeats an empty round.
 */
function listWays(nodes: readonly Node[], from: number): Way[] {
  const ways: Way[] = []
  const passed = new Set<number>()
  const walk = (at: number, conditions: readonly Condition[]): void => {
    const node = nodes[at]
    if (!node || node.kind === 'end' || passed.has(at)) return
    if (node.kind === 'accept') ways.push({ to: ACCEPT, conditions })
    else if (node.kind === 'take') ways.push({ to: node.place, conditions })
    else {
      passed.add(at)
      if (node.kind === 'condition') walk(node.next, [...conditions, node.holds])
      else for (const next of node.nexts) walk(next, conditions)
      passed.delete(at)
    }
  }
  walk(from, [])
  return ways
}
