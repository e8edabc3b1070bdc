/**
 * Counters of the data path. The library writes a text of all labels at every increment; here a sum
 * is found once and added to its counter when that is read.
 */
import { Counter, type CounterConfiguration, type LabelValues } from 'prom-client'

export interface DeferredSum {
  /** Not yet in the counter. */
  sum: number
}

/** Registers a counter and returns a function that creates the sum of one set of labels. */
export function createDeferredSums<Label extends string>(
  configuration: Omit<CounterConfiguration<Label>, 'collect'>,
): (labels: LabelValues<Label>) => DeferredSum {
  const sums: (DeferredSum & { readonly labels: LabelValues<Label> })[] = []
  new Counter<Label>({
    ...configuration,
    collect() {
      for (const deferred of sums) {
        if (deferred.sum === 0) continue
        this.inc(deferred.labels, deferred.sum)
        deferred.sum = 0
      }
    },
  })
  return (labels) => {
    const deferred = { labels, sum: 0 }
    sums.push(deferred)
    return deferred
  }
}

/** Returns a function that creates the value of a key once. The keys must be few. */
export function memoize<Value>(create: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = create(key)
      known.set(key, value)
    }
    return value
  }
}
