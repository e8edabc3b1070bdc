/** Counts hosted tools by the items of a response (docs/protocols/openai.md#hosted-tools). */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import type { Quantities, Unit } from '../../lib/units.ts'
import type { ContainerUse } from '../relay.ts'
import { largerOfEach, type Tally, tally } from '../usage/usage-reading.ts'

/** Minutes of a container's session, the unit in which it is billed. */
const SESSION_MINUTES = 20

/** Items that are one call each. */
const CALLS: ReadonlyMap<unknown, Unit> = new Map([
  ['file_search_call', 'file_search_call'],
  ['document_search_call', 'file_search_call'],
  ['collections_search_call', 'file_search_call'],
  ['x_search_call', 'web_search_call'],
  ['web_fetch_call', 'web_fetch_call'],
])

/** Counts the items of one response, each once even where events repeat it. */
export interface ItemCounter {
  /** Adds an item. `key`, its place in the output, tells items without an id apart. */
  readonly add: (item: unknown, key: unknown) => void
  /** Adds the whole output, whose counts are compared with those of the single items. */
  readonly addOutput: (output: unknown) => void
  readonly calls: () => Quantities
  /** The containers with an id among those that `calls` counts. */
  readonly containers: () => readonly ContainerUse[]
  /** True where a hosted image model was used, whose usage is stated apart. */
  readonly hasImages: () => boolean
}

export function createItemCounter(): ItemCounter {
  const seen = new Map<unknown, JsonObject>()
  let whole = NO_ITEMS
  let images = false
  const note = (items: Map<unknown, JsonObject>, item: unknown, key: unknown) => {
    if (!isObject(item)) return
    items.set(asString(item.id) ?? key, item)
    images ||= item.type === 'image_generation_call'
  }
  return {
    add: (item, key) => note(seen, item, key),
    addOutput(output) {
      if (!Array.isArray(output)) return
      const items = new Map<unknown, JsonObject>()
      for (const [index, item] of output.entries()) note(items, item, index)
      whole = countItems(items.values())
    },
    calls: () => largerOfEach(whole.calls, countItems(seen.values()).calls),
    containers() {
      const { containers } = countItems(seen.values())
      return containers.length > whole.containers.length ? containers : whole.containers
    },
    hasImages: () => images,
  }
}

interface CountedItems {
  readonly calls: Quantities
  readonly containers: readonly ContainerUse[]
}

const NO_ITEMS: CountedItems = { calls: {}, containers: [] }

function countItems(items: Iterable<JsonObject>): CountedItems {
  const calls: Tally = {}
  const containers = new Set<unknown>()
  for (const item of items) {
    const unit = CALLS.get(item.type)
    if (unit) tally(calls, unit, 1)
    if (isBilledSearch(item)) tally(calls, 'web_search_call', 1)
    if (item.type === 'code_interpreter_call') containers.add(item.container_id)
    const shell = item.type === 'shell_call' && member(item.environment, 'container_id')
    // A shell on the caller's side has no container.
    if (shell) containers.add(shell)
  }
  tally(calls, 'container_minute', containers.size * SESSION_MINUTES)
  const ids = [...containers].filter((id) => typeof id === 'string')
  return { calls, containers: ids.map((id) => ({ id, minutes: SESSION_MINUTES })) }
}

/** True for a search; opening a page and finding in it are not counted. */
function isBilledSearch({ type, action, status }: JsonObject): boolean {
  if (type !== 'web_search_call' || status === 'failed') return false
  const kind = member(action, 'type')
  return kind === undefined || kind === 'search'
}
