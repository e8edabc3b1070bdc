/** Computes round numbers for an axis. */

const STEPS = [1, 2, 2.5, 5, 10] as const

/** Returns about `count` marks from zero to at least `max`. */
export function axisMarks(max: number, count = 3): readonly number[] {
  if (!(max > 0)) return [0]
  const rough = max / count
  const magnitude = 10 ** Math.floor(Math.log10(rough))
  const step = magnitude * (STEPS.find((one) => one * magnitude >= rough) ?? 10)
  const marks = [0]
  while ((marks.at(-1) ?? 0) < max) marks.push(Number((marks.length * step).toPrecision(12)))
  return marks
}

/** Returns which of `count` slots get a label: at most `room`, the last one always included. */
export function labelledSlots(count: number, room: number): ReadonlySet<number> {
  const every = Math.max(1, Math.ceil(count / Math.max(1, room)))
  const slots = new Set<number>()
  for (let slot = count - 1; slot >= 0; slot -= every) slots.add(slot)
  return slots
}

const AXIS_WIDTH_MIN = 52
/** An upper bound of a digit's width in the small font of the axis. */
const DIGIT_WIDTH = 7

/** Returns the room, in pixels, for the labels of an axis and the gap beside them. */
export function axisWidth(labels: readonly string[]): number {
  const longest = Math.max(0, ...labels.map(({ length }) => length))
  return Math.max(AXIS_WIDTH_MIN, longest * DIGIT_WIDTH + 10)
}
