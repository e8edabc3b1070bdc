/**
 * Counts work instead of time: how often each block of the server's code runs, as the engine counts
 * it for coverage, and the entries over which the language's own methods go.
 */
import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'

// On a slow machine the engine drops code that has not run for a while, and its counts with it.
setFlagsFromString('--no-flush-bytecode')
// Compiled code does not count calls of functions, and when it is ready is chance.
for (const compiler of ['maglev', 'opt']) setFlagsFromString(`--no-${compiler}`)

/** Runs of each block of code, and entries of methods, by place. */
export type Work = ReadonlyMap<string, number>

export type Note = (part: string) => void

interface CoverageAnswer {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
    }[]
  }[]
}

export interface WorkCounter {
  /** Returns what `run` costs; it names each of its parts, after that, for the entries of methods. */
  count(run: (note: Note) => void): Work
  stop(): void
}

export function startCounting(): WorkCounter {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  takeBlocks(session)
  const unwatch = watchMethods()
  return {
    count(run) {
      const taken = new Map<string, number>()
      entries = 0
      run((part) => {
        taken.set(`methods with ${part}`, entries)
        entries = 0
      })
      return new Map([...takeBlocks(session), ...taken])
    },
    stop() {
      unwatch()
      session.disconnect()
    },
  }
}

/** Returns the counts since the last call. A session of this thread answers at once. */
function takeBlocks(session: Session): Map<string, number> {
  const counts = new Map<string, number>()
  const read = (error: Error | null, answer: unknown) => {
    if (error) throw error
    for (const { url, functions } of (answer as CoverageAnswer).result) {
      const at = url.indexOf('/server/')
      if (at === -1) continue
      for (const { functionName, ranges } of functions) {
        for (const { startOffset, count } of ranges) {
          const place = `${url.slice(at + 1)} ${functionName}@${startOffset}`
          counts.set(place, Math.max(counts.get(place) ?? 0, count))
        }
      }
    }
  }
  session.post('Profiler.takePreciseCoverage', read)
  return counts
}

type Sized = { readonly length: number }
type Method = (this: Sized, ...values: unknown[]) => unknown
/** Returns the entries over which a call went. */
type Cost = (self: Sized, values: readonly unknown[], result: unknown) => number

let entries = 0

const whole: Cost = (self) => self.length
const ofResult: Cost = (_self, _values, result) => (result as Sized).length
const ofFirst: Cost = (_self, [first]) => (typeof first === 'string' ? first.length : 0)
/** From where the search begins to where it ends. */
const searched: Cost = (self, [, from], result) => {
  const start = typeof from === 'number' ? Math.min(from, self.length) : 0
  return typeof result === 'number' && result >= 0 ? result - start + 1 : self.length - start
}

const WATCHED: readonly (readonly [object, Cost, string])[] = [
  [Array.prototype, whole, 'splice shift unshift reverse with toSpliced lastIndexOf'],
  [Array.prototype, searched, 'includes indexOf'],
  [Array.prototype, ofResult, 'slice concat join'],
  [String.prototype, searched, 'indexOf'],
  [String.prototype, whole, 'includes lastIndexOf split replaceAll trim toLowerCase toUpperCase'],
  [Buffer.prototype, searched, 'indexOf includes'],
  [Buffer.prototype, ofResult, 'toString'],
  [JSON, ofFirst, 'parse'],
  [JSON, (_self, _values, text) => (typeof text === 'string' ? text.length : 0), 'stringify'],
  [Object, ofResult, 'keys values entries'],
  [Buffer, ofResult, 'concat'],
]

/** Replaces methods by ones that count. Returns the way back. */
function watchMethods(): () => void {
  const undo = WATCHED.flatMap(([owner, cost, names]) =>
    names.split(' ').map((name) => {
      const own = Object.getOwnPropertyDescriptor(owner, name)
      const method = Reflect.get(owner, name) as Method
      function counted(this: Sized, ...values: unknown[]) {
        const result = method.apply(this, values)
        entries += cost(this, values, result)
        return result
      }
      Object.defineProperty(owner, name, { value: counted, configurable: true, writable: true })
      return () => {
        if (own) Object.defineProperty(owner, name, own)
        else Reflect.deleteProperty(owner, name)
      }
    }),
  )
  return () => {
    for (const one of undo) one()
  }
}
