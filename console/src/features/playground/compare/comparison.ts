/** The figures of several answers to one prompt, and which of them is best. */
import type { Reply } from '../chat/values.ts'

export interface ComparedCall {
  readonly phase: 'running' | 'done' | 'stopped' | 'failed'
  readonly result?: Reply
  readonly milliseconds?: number
}

export interface CallFigures {
  readonly firstMs: number | undefined
  readonly totalMs: number | undefined
  /** Output tokens per second after the first token. */
  readonly rate: number | undefined
  readonly input: number | undefined
  readonly output: number | undefined
}

/** An answer that came at once has no rate worth showing. */
const RATE_MS_MIN = 20

export function readFigures(call: ComparedCall | undefined): CallFigures {
  const { result, milliseconds, phase } = call ?? {}
  const { firstMs, usage } = result ?? {}
  const totalMs = phase === 'done' ? milliseconds : undefined
  const writingMs = totalMs === undefined || firstMs === undefined ? 0 : totalMs - firstMs
  return {
    firstMs,
    totalMs,
    rate: usage && writingMs >= RATE_MS_MIN ? usage.output / (writingMs / 1000) : undefined,
    input: usage?.input,
    output: usage?.output,
  }
}

/** Returns the index of the best value; undefined before all are known, or if several share it. */
export function findBest(
  values: readonly (number | undefined)[],
  which: 'lowest' | 'highest',
): number | undefined {
  const known = values.filter((value) => value !== undefined)
  if (known.length < 2 || known.length < values.length) return undefined
  const best = which === 'lowest' ? Math.min(...known) : Math.max(...known)
  const found = values.flatMap((value, index) => (value === best ? [index] : []))
  return found.length === 1 ? found[0] : undefined
}
