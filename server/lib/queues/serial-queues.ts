/**
 * Serial queues by key, a few of them at a time: what waits for one key holds up no other. A lane
 * is opened by its first item and stays open until a run of it says that the way is free.
 */
export interface Ran<Item> {
  /** To be tried again, before anything newer, after a pause that grows. */
  readonly left: readonly Item[]
  /** Whether the next item of this key should come here as well. */
  readonly stays: boolean
}

export interface Lanes<Item> {
  has(key: string): boolean
  push(key: string, item: Item): void
  /** Resolves when no item is waiting or under way. */
  flushed(): Promise<void>
  /** Items waiting or under way. */
  size(): number
}

interface Lane<Item> {
  waiting: Item[]
  underWay: number
  isScheduled: boolean
  pauseMs: number
}

const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 3_000

/** `run` answers its items itself, except those that it returns as left; it never rejects. */
export function createLanes<Item>(options: {
  readonly run: (key: string, items: readonly Item[]) => Promise<Ran<Item>>
  readonly atOnce: number
  /** The longest pause before what was left is tried again. */
  readonly pauseMsMax?: number
}): Lanes<Item> {
  const { pauseMsMax = PAUSE_MS_MAX } = options
  const lanes = new Map<string, Lane<Item>>()
  const ready: string[] = []
  let running = 0
  let whenIdle: (() => void)[] = []

  function size(): number {
    let items = 0
    for (const { waiting, underWay } of lanes.values()) items += waiting.length + underWay
    return items
  }

  function schedule(key: string, lane: Lane<Item>): void {
    if (lane.isScheduled || lane.waiting.length === 0) return
    lane.isScheduled = true
    if (lane.pauseMs === 0) enter(key)
    else setTimeout(enter, lane.pauseMs, key)
  }

  function enter(key: string): void {
    ready.push(key)
    while (running < options.atOnce && ready.length > 0) void runNext()
  }

  async function runNext(): Promise<void> {
    const key = ready.shift() ?? ''
    const lane = lanes.get(key)
    if (!lane) return
    running += 1
    const items = lane.waiting
    lane.waiting = []
    lane.underWay = items.length
    const { left, stays } = await options.run(key, items)
    running -= 1
    lane.underWay = 0
    lane.isScheduled = false
    lane.waiting.unshift(...left)
    lane.pauseMs =
      left.length === 0 ? 0 : Math.min(Math.max(lane.pauseMs * 2, PAUSE_MS_MIN), pauseMsMax)
    if (lane.waiting.length === 0 && !stays) lanes.delete(key)
    schedule(key, lane)
    while (running < options.atOnce && ready.length > 0) void runNext()
    if (whenIdle.length === 0 || size() > 0) return
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  return {
    has: (key) => lanes.has(key),
    push(key, item) {
      const lane = lanes.get(key) ?? { waiting: [], underWay: 0, isScheduled: false, pauseMs: 0 }
      lanes.set(key, lane)
      lane.waiting.push(item)
      schedule(key, lane)
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
