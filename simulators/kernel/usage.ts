// The ways in which a vendor's stated usage can be wrong. The book is always correct.

type Bend = (figure: number) => unknown

const BENDS: Record<string, Bend> = {
  zero: () => 0,
  wrong: (figure) => figure * 3 + 7,
  double: (figure) => figure * 2,
  negative: (figure) => -Math.max(1, figure),
  string: (figure) => String(figure),
  float: (figure) => figure + 0.5,
  huge: () => 1e18,
}

/** Returns the usage objects to send, in order: usually one, none if absent, two if repeated. */
export function usageSequence(usage: object, how: string | undefined): unknown[] {
  if (how === undefined) return [usage]
  if (how === 'absent') return []
  if (how === 'null') return [null]
  if (how === 'twice') return [usage, usage]
  if (how === 'shrinking') return [bend(usage, (figure) => figure * 2 + 10), usage]
  const chosen = BENDS[how]
  return [chosen ? bend(usage, chosen) : usage]
}

/** For answers with room for one usage object. `undefined` omits the field. */
export function bentUsage(usage: object, how: string | undefined): unknown {
  return usageSequence(usage, how).at(-1)
}

function bend(value: unknown, how: Bend): unknown {
  if (typeof value === 'number') return how(value)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, bend(inner, how)]))
}
