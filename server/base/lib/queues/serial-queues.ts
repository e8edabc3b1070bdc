/**
 * Serial queues by key, a limited number at a time: items of one key never delay another. A queue
 * opens with its first item and stays open until a run reports that the key is free.
 */
export interface QueueRun<Item> {
  /** Items to retry before newer ones, after an increasing pause. */
  readonly remaining: readonly Item[]
  /** True if the key's next item should be queued here as well. */
  readonly stays: boolean
}

export interface SerialQueues<Item> {
  has(key: string): boolean
  push(key: string, item: Item): void
  /** Resolves when no item is waiting or running. */
  flushed(): Promise<void>
  /** Items waiting or running. */
  size(): number
}

interface SerialQueue<Item> {
  waiting: Item[]
  underWay: number
  isScheduled: boolean
  pauseMs: number
}

const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 3_000

/** `run` resolves its items itself, except those that it returns for a retry; it never rejects. */
export function createSerialQueues<Item>(options: {
  readonly run: (key: string, items: readonly Item[]) => Promise<QueueRun<Item>>
  readonly atOnce: number
  /** The longest pause before a retry, in milliseconds. */
  readonly pauseMsMax?: number
}): SerialQueues<Item> {
  const { pauseMsMax = PAUSE_MS_MAX } = options
  const queues = new Map<string, SerialQueue<Item>>()
  const ready: string[] = []
  let running = 0
  let whenIdle: (() => void)[] = []

  function size(): number {
    let items = 0
    for (const { waiting, underWay } of queues.values()) items += waiting.length + underWay
    return items
  }

  function schedule(key: string, queue: SerialQueue<Item>): void {
    if (queue.isScheduled || queue.waiting.length === 0) return
    queue.isScheduled = true
    if (queue.pauseMs === 0) enter(key)
    else setTimeout(enter, queue.pauseMs, key)
  }

  function enter(key: string): void {
    ready.push(key)
    while (running < options.atOnce && ready.length > 0) void runNext()
  }

  async function runNext(): Promise<void> {
    const key = ready.shift() ?? ''
    const queue = queues.get(key)
    if (!queue) return
    running += 1
    const items = queue.waiting
    queue.waiting = []
    queue.underWay = items.length
    const { remaining, stays } = await options.run(key, items)
    running -= 1
    queue.underWay = 0
    queue.isScheduled = false
    queue.waiting.unshift(...remaining)
    queue.pauseMs =
      remaining.length === 0 ? 0 : Math.min(Math.max(queue.pauseMs * 2, PAUSE_MS_MIN), pauseMsMax)
    if (queue.waiting.length === 0 && !stays) queues.delete(key)
    schedule(key, queue)
    while (running < options.atOnce && ready.length > 0) void runNext()
    if (whenIdle.length === 0 || size() > 0) return
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  return {
    has: (key) => queues.has(key),
    push(key, item) {
      const queue = queues.get(key) ?? { waiting: [], underWay: 0, isScheduled: false, pauseMs: 0 }
      queues.set(key, queue)
      queue.waiting.push(item)
      schedule(key, queue)
    },
    flushed: () =>
      size() === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenIdle.push(resolve)
          }),
    size,
  }
}
