/**
 * Natural batching: while one batch runs, the next one collects. A single item is sent at once,
 * many share one round trip and one commit; no timer delays them.
 */
export interface Batcher<Item, Result> {
  /** Queues an item; resolves to its result. Rejects with `QueueFull` over the limit. */
  add(item: Item): Promise<Result>
  /** Resolves when everything queued before this call has finished or failed. */
  flushed(): Promise<void>
  /** Items waiting or running. */
  size(): number
}

/** Batches of items that carry their own callbacks. */
export interface Batches<Item> {
  /** Throws `QueueFull` over the limit. */
  push(item: Item): void
  flushed(): Promise<void>
  size(): number
}

export class QueueFull extends Error {}

/**
 * Resolves the items of a batch that has ended; their owners continue in the same turn of the event
 * loop.
 */
export type AnswerBatch = () => void

/**
 * `run` receives at most `batchLimit` items and resolves each of them; it never rejects. The
 * function that it resolves to is called once the next batch has been sent, which need not wait for
 * those owners.
 */
export function createBatches<Item>(options: {
  readonly run: (items: readonly Item[]) => Promise<AnswerBatch | undefined>
  readonly batchLimit: number
  readonly queueLimit: number
}): Batches<Item> {
  let queue: Item[] = []
  let underWay = 0
  let scheduled = false
  let idle: Promise<void> = Promise.resolve()
  let settleIdle: (() => void) | undefined

  async function drain(): Promise<void> {
    let answer: AnswerBatch | undefined
    while (queue.length > 0) {
      const batch = queue.slice(0, options.batchLimit)
      queue = queue.slice(batch.length)
      underWay = batch.length
      const running = options.run(batch)
      answer?.()
      answer = await running
      underWay = 0
    }
    answer?.()
    scheduled = false
    settleIdle?.()
    settleIdle = undefined
  }

  return {
    push(item) {
      if (queue.length >= options.queueLimit) throw new QueueFull('queue is full')
      queue.push(item)
      if (scheduled) return
      scheduled = true
      idle = new Promise((done) => {
        settleIdle = done
      })
      // Runs after this turn's sockets were read, so that items that arrived together share a
      // batch.
      setImmediate(drain)
    },
    flushed: () => idle,
    size: () => queue.length + underWay,
  }
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * `run` receives at most `batchLimit` items and returns one result per item, in order; if it
 * throws, all items of the batch are rejected with that error.
 */
export function createBatcher<Item, Result>(options: {
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly batchLimit: number
  readonly queueLimit: number
}): Batcher<Item, Result> {
  const batches = createBatches<Waiting<Item, Result>>({ ...options, run })

  async function run(batch: readonly Waiting<Item, Result>[]): Promise<undefined> {
    try {
      const results = await options.run(batch.map((waiting) => waiting.item))
      batch.forEach((waiting, index) => {
        const result = results[index]
        if (result === undefined) waiting.reject(new Error('batch returned too few results'))
        else waiting.resolve(result)
      })
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        batches.push({ item, resolve, reject })
      }),
    flushed: batches.flushed,
    size: batches.size,
  }
}
