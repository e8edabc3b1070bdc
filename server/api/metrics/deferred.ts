/**
 * Counters and histograms of the data path. The library builds a string of all labels at every
 * change; here the values of a set of labels are looked up once, and added to the library's metric
 * when it is read.
 */
import {
  Counter,
  type CounterConfiguration,
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
} from 'prom-client'

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

export interface DeferredHistogram {
  observe(value: number): void
}

/** The figures that the library keeps of a set of labels; it does not declare them. */
interface Observed {
  /** The values of each bucket alone, by its bound. */
  readonly bucketValues: Record<number, number>
  sum: number
  count: number
}

/** Registers a histogram and returns a function that finds the figures of a set of labels. */
export function createDeferredHistogram<Label extends string>(
  configuration: Omit<HistogramConfiguration<Label>, 'collect'> & { readonly buckets: number[] },
): (labels: LabelValues<Label>) => DeferredHistogram {
  const { buckets, labelNames = [] } = configuration
  const all = new Map<string, Observations>()
  const histogram = new Histogram<Label>({
    ...configuration,
    collect() {
      for (const one of all.values()) one.flush()
    },
  })
  const { hashMap } = histogram as unknown as { hashMap: Record<string, Observed> }
  return (labels) => {
    const id = JSON.stringify(labelNames.map((name) => labels[name]))
    const known = all.get(id)
    if (known) return known
    const before = new Set(Object.keys(hashMap))
    histogram.zero(labels)
    const added = Object.keys(hashMap).find((key) => !before.has(key)) ?? ''
    const target = hashMap[added] ?? { bucketValues: {}, sum: 0, count: 0 }
    const one = new Observations(buckets, target)
    all.set(id, one)
    return one
  }
}

class Observations implements DeferredHistogram {
  private readonly bounds: readonly number[]
  private readonly target: Observed
  /** One for each bucket; values beyond the last bound are only in the sum and the count. */
  private readonly counts: number[]
  private sum = 0
  private count = 0

  constructor(bounds: readonly number[], target: Observed) {
    this.bounds = bounds
    this.target = target
    this.counts = bounds.map(() => 0)
  }

  observe(value: number): void {
    const { bounds, counts } = this
    let index = 0
    while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1
    if (index < bounds.length) counts[index] = (counts[index] ?? 0) + 1
    this.sum += value
    this.count += 1
  }

  flush(): void {
    const { bounds, counts, target } = this
    if (this.count === 0) return
    for (const [index, bound] of bounds.entries()) {
      target.bucketValues[bound] = (target.bucketValues[bound] ?? 0) + (counts[index] ?? 0)
      counts[index] = 0
    }
    target.sum += this.sum
    target.count += this.count
    this.sum = 0
    this.count = 0
  }
}

/** Returns a function that creates a value at its first call. */
export function once<Value>(create: () => Value): () => Value {
  let value: Value | undefined
  return () => {
    value ??= create()
    return value
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
