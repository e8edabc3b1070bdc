/**
 * Natural batching: while one batch is under way the next one collects. A lone item goes at
 * once, a crowd shares one round trip and one commit; no timer delays anybody.
 */
export interface Batcher<Item, Result> {
  /** Queues an item; resolves with its own result. Rejects with `QueueFull` over the limit. */
  add(item: Item): Promise<Result>
  /** Resolves when everything that was queued before this call is through, either way. */
  flushed(): Promise<void>
  /** Items waiting or under way. */
  size(): number
}

export class QueueFull extends Error {}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * `run` gets at most `batchLimit` items and returns one result for each, in order; when it
 * throws, the whole batch is rejected with that error.
 */
export function createBatcher<Item, Result>(options: {
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly batchLimit: number
  readonly queueLimit: number
}): Batcher<Item, Result> {
  let queue: Waiting<Item, Result>[] = []
  let underWay = 0
  let scheduled = false
  let idle: Promise<void> = Promise.resolve()
  let settleIdle: (() => void) | undefined

  async function runOne(): Promise<void> {
    const batch = queue.slice(0, options.batchLimit)
    queue = queue.slice(batch.length)
    underWay = batch.length
    try {
      const results = await options.run(batch.map((waiting) => waiting.item))
      batch.forEach((waiting, index) => {
        const result = results[index]
        if (result === undefined) waiting.reject(new Error('batch returned too few results'))
        else waiting.resolve(result)
      })
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    } finally {
      underWay = 0
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) await runOne()
    scheduled = false
    settleIdle?.()
    settleIdle = undefined
  }

  return {
    add(item) {
      if (queue.length >= options.queueLimit) return Promise.reject(new QueueFull('queue is full'))
      return new Promise<Result>((resolve, reject) => {
        queue.push({ item, resolve, reject })
        if (scheduled) return
        scheduled = true
        idle = new Promise((done) => {
          settleIdle = done
        })
        // After this turn's sockets were read: what arrived together travels together.
        setImmediate(drain)
      })
    },
    flushed: () => idle,
    size: () => queue.length + underWay,
  }
}
